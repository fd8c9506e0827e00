/** Pages of the documentation: their titles, and links that work in the web app. */

import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { en } from "../i18n/en/dictionary.ts";
import { anchorOf, helpPath, readPage } from "./documentation.ts";

const folder = "../docs";
const ofPage = (name: string) => readFileSync(`${folder}/${name}.md`, "utf8");

test.each([
  ["docs/team/groups.md", "/help/team/groups"],
  ["docs/team/single-sign-on.md#groups", "/help/team/single-sign-on#groups"],
  ["docs/research.md", "/help/research"],
])("%s is shown at %s", (reference, path) => expect(helpPath(reference)).toBe(path));

test("the title is taken out, and links are changed outside of code", () => {
  const { title, text } = readPage(
    [
      "# Groups `x`",
      "See [sign-in](sign-in.md#a), [the",
      "start](../get-started.md), [why](../decisions/0001-x.md), [code](../../crates/x.rs), [`key`](#keys)",
      "and [the web](https://example.org).",
      "```sh run",
      "# not a title",
      "echo [a](b.md)",
      "```",
    ].join("\n"),
    "team/groups",
  );
  expect(title).toBe("Groups `x`");
  expect(text).toBe(
    [
      "See [sign-in](/help/team/sign-in#a), [the",
      "start](/help/get-started), why, code, [`key`](/help/team/groups#keys)",
      "and [the web](https://example.org).",
      "```sh run",
      "# not a title",
      "echo [a](b.md)",
      "```",
    ].join("\n"),
  );
});

test("every page has a title, and every link between pages and to headings leads somewhere", () => {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && !file.startsWith("decisions"))
    .map((file) => file.replace(/\.md$/, ""));
  expect(names.length).toBeGreaterThan(60);
  const anchors = new Map(
    names.map((name) => {
      const headings = ofPage(name).matchAll(/^#{2,6} (.*)$/gm);
      return [name, new Set([...headings].map(([, heading = ""]) => anchorOf(heading)))];
    }),
  );
  for (const name of names) {
    const { title, text } = readPage(ofPage(name), name);
    expect(title, name).not.toBe("");
    for (const [, page = "", anchor] of text.matchAll(/\]\(\/help\/([^)#]*)(?:#([^)]*))?\)/g)) {
      expect(anchors.has(page), `${name} → ${page}`).toBe(true);
      if (anchor) expect(anchors.get(page)?.has(anchor), `${name} → ${page}#${anchor}`).toBe(true);
    }
  }
});

test("places in the settings have the names that the page gives them", () => {
  const texts = new Set(Object.values(en).filter((text) => typeof text === "string"));
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  let count = 0;
  for (const file of files.filter((name) => name.endsWith(".md") && !name.startsWith("decisions"))) {
    const text = readFileSync(`${folder}/${file}`, "utf8");
    for (const [, place = ""] of text.matchAll(/\*\*Settings\s+→\s+([^*]+)\*\*/g)) {
      for (const part of place.split("→")) {
        count += 1;
        expect(texts, `${file}: Settings → ${place}`).toContain(part.replace(/\s+/g, " ").trim());
      }
    }
  }
  expect(count).toBeGreaterThan(50);
});
