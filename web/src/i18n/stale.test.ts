/**
 * Each translation was made from the English of today. Every language keeps a fingerprint of the English of each topic in
 * `made-from.json`. After a change of English, translate what changed, then accept it with
 * `npx vitest run src/i18n/stale.test.ts -u`.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { translations } from "./index.svelte.ts";

const fingerprint = (value: unknown) =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);

/** The texts of the page by topic; a topic that includes others counts those only once. */
function topicsOfPage(): Record<string, string> {
  const modules = import.meta.glob<Record<string, Record<string, unknown>>>("./en/*.ts", { eager: true });
  const topics = Object.entries(modules).map(([path, module]) => {
    const name = path.replace(/^.*\/|\.ts$/g, "");
    return [name, Object.entries(Object.values(module)[0] ?? {})] as const;
  });
  const own = (name: string, key: string) =>
    !topics.some(
      ([other, texts]) => other !== name && texts.length < sizeOf(name) && texts.some(([k]) => k === key),
    );
  const sizeOf = (name: string) => topics.find(([topic]) => topic === name)?.[1].length ?? 0;
  return Object.fromEntries(
    topics.map(([name, texts]) => [name, fingerprint(texts.filter(([key]) => own(name, key)).sort())]),
  );
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".rs"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

const snakeCase = (name: string) => name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** The English of the server's messages by code, from the attributes of their variants. */
function messages(): Record<string, string> {
  const codes = new Set(readFileSync("src/api/messages.ts", "utf8").match(/(?<=^ {2})\w+(?=: \[)/gm));
  const attribute = /#\[error\(\s*"((?:[^"\\]|\\[\s\S])*)"[\s\S]*?\)\]\s*(?:#\[[^\]]*\]\s*)*(\w+)/g;
  const found: Record<string, string> = {};
  for (const file of filesBelow("../crates").filter((path) => /\/src\/.*messages|\/src\/messages/.test(path)))
    for (const [, text = "", variant = ""] of readFileSync(file, "utf8").matchAll(attribute))
      if (codes.has(snakeCase(variant))) found[snakeCase(variant)] = text.replace(/\\\n\s*/g, "");
  return found;
}

/** The comments of the settings, of which the first sentence is shown. */
function settings(): [string, string][] {
  const lines = readFileSync("../config.example.toml", "utf8").split("\n");
  return lines.flatMap((line, at) => {
    const name = /^(\w+) = /.exec(line)?.[1];
    if (name === undefined) return [];
    const start = lines.slice(0, at).findLastIndex((before) => !before.startsWith("#")) + 1;
    return [[name, lines.slice(start, at).join(" ")] as [string, string]];
  });
}

const english = {
  ...topicsOfPage(),
  "server-messages": fingerprint(Object.entries(messages()).sort()),
  "server-settings": fingerprint(settings()),
};

test("the English of the server is found", () => {
  expect(Object.keys(messages()).length).toBeGreaterThan(600);
  expect(settings().length).toBeGreaterThan(100);
  expect(messages()["mcp_name_taken"]).toBe("There is already an MCP server “{name}”.");
});

test.each(Object.keys(translations))("in %s nothing is older than its English", async (language) => {
  await expect(`${JSON.stringify(english, null, 2)}\n`).toMatchFileSnapshot(`./${language}/made-from.json`);
});
