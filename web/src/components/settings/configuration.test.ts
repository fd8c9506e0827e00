/** Every setting of the server has words in each language. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { ServerSetting } from "../../api/configuration.ts";
import { aboutSetting, bySection, written } from "./configuration.ts";

/** The names of all settings, from the file that is compiled into the server. */
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

test("each setting says what it does", () => {
  expect(names().length).toBeGreaterThan(45);
  for (const name of names()) {
    for (const language of ["en", "ru"] as const) expect(aboutSetting(name, language), name).not.toBe("");
    expect(aboutSetting(name, "en")).not.toBe(aboutSetting(name, "ru"));
  }
  expect(aboutSetting("moon.phase", "en")).toBe("");
  expect(aboutSetting("constructor", "en")).toBe("");
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
  const setting = (name: string): ServerSetting => ({
    name,
    variable: "",
    default: "",
    value: "",
    from: "default",
  });
  const sections = bySection(["log.level", "auth", "log.format", "listen"].map(setting));
  expect(sections.map(([name, list]) => [name, ...list.map((one) => one.name)])).toEqual([
    ["server", "auth", "listen"],
    ["log", "log.level", "log.format"],
  ]);
});
