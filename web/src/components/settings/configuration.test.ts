/** Every server setting has a description in each language; the English ones come from the server. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ServerSetting } from "../../api/configuration.ts";
import { translations } from "../../i18n/index.svelte.ts";
import { aboutSetting, bySection, isShown, piecesOf, written } from "./configuration.ts";

/** Names of all settings, from the file that is compiled into the server. */
function names(): string[] {
  let section = "";
  const found = [];
  for (const line of readFileSync("../config.example.toml", "utf8").split("\n")) {
    section = /^\[(\w+)\]$/.exec(line)?.[1]?.concat(".") ?? section;
    const name = /^(\w+) = /.exec(line)?.[1];
    if (name !== undefined) found.push(section + name);
  }
  return found;
}

const setting = (name: string): ServerSetting => ({
  name,
  variable: "",
  summary: "What it does.",
  details: "",
  default: "",
  value: "",
  from: "default",
  changed_in: "web_app",
});

test.each(Object.entries(translations))("each setting says what it does in %s", async (_, translation) => {
  const { serverSettings } = await translation.serverSettings();
  expect(names().length).toBeGreaterThan(100);
  expect(Object.keys(serverSettings).sort()).toEqual(names().sort());
  expect(aboutSetting(setting("listen"), serverSettings)).toBe(serverSettings["listen"]);
  for (const unknown of ["moon.phase", "constructor"])
    expect(aboutSetting(setting(unknown), serverSettings)).toBe("What it does.");
});

test("values look as in the file", () => {
  expect([written("a"), written(0.75), written(false), written([]), written(["a", "b"])]).toEqual([
    '"a"',
    "0.75",
    "false",
    "[]",
    '["a", "b"]',
  ]);
});

test("settings stand in their sections, those of the server first", () => {
  const sections = bySection(["log.level", "auth", "log.format", "listen"].map(setting));
  expect(sections.map(([name, list]) => [name, ...list.map((one) => one.name)])).toEqual([
    ["server", "auth", "listen"],
    ["log", "log.level", "log.format"],
  ]);
});

test("names are code, and pages of the documentation are links", () => {
  expect(piecesOf("The `robots.txt` of sites. See docs/knowledge/graph.md#graph-database.")).toEqual([
    { text: "The ", kind: "text" },
    { text: "robots.txt", kind: "code" },
    { text: " of sites. See ", kind: "text" },
    { text: "docs/knowledge/graph.md#graph-database", kind: "page" },
    { text: ".", kind: "text" },
  ]);
});

test("the filter has what can be changed, also if it is fixed, or what is no default", () => {
  const fixed = { ...setting("limits.depth"), from: "environment" as const };
  const listen = { ...setting("listen"), changed_in: "start" as const };
  const shown = (filter: Parameters<typeof isShown>[1]) =>
    [fixed, listen, setting("limits.usd")].filter((it) => isShown(it, filter)).map(({ name }) => name);
  expect(shown("here")).toEqual(["limits.depth", "limits.usd"]);
  expect(shown("changed")).toEqual(["limits.depth"]);
  expect(shown("all")).toHaveLength(3);
});
