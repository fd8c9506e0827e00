/** Approval rules: what is sent, in words, which tools they match, and which never apply. */
import { describe, expect, test } from "vitest";
import {
  coverOf,
  formOf,
  isComplete,
  moved,
  placeOf,
  problemsOf,
  ruleOf,
  sentenceOf,
  toolsOf,
  wordsOf,
} from "./rules.ts";
import type { ApprovalRule, Verdict } from "./rules.ts";

const site: ApprovalRule = { tool: "write_file", arguments: { path: "/site/*" }, then: "ask" };
const all = (tool: string, then: Verdict = "ask"): ApprovalRule => ({ tool, then });

test("a rule is a sentence with its names and patterns", () => {
  expect(sentenceOf(site)).toBe("Ask before write_file when path is /site/*");
  expect(wordsOf(site).filter(({ isCode }) => isCode)).toEqual([
    { text: "write_file", isCode: true },
    { text: "path", isCode: true },
    { text: "/site/*", isCode: true },
  ]);
  expect(sentenceOf(all("*", "deny"))).toBe("Deny every tool");
  expect(sentenceOf(all("*delete*", "ask_each_time"))).toBe("Ask each time before *delete*");
  expect(sentenceOf({ tool: "grep", arguments: { path: "/a", pattern: "b*" }, then: "allow" })).toBe(
    "Allow grep when path is /a and pattern is b*",
  );
});

test("the form keeps a rule as it was, and leaves out empty conditions", () => {
  expect(ruleOf(formOf(site))).toEqual(site);
  const form = { tool: " shell ", conditions: [{ name: "", pattern: "" }], then: "deny" as const };
  expect(ruleOf(form)).toEqual({ tool: "shell", then: "deny" });
  expect(isComplete(form)).toBe(true);
  expect(isComplete(formOf(null))).toBe(false);
});

test("conditions need a name, once, and a pattern", () => {
  const conditions = [
    { name: "path", pattern: "/a" },
    { name: " path", pattern: "/b" },
    { name: "", pattern: "x" },
    { name: "url", pattern: "" },
    { name: "text", pattern: "x".repeat(10_001) },
    { name: "", pattern: "" },
  ];
  expect(problemsOf(conditions)).toEqual([null, "twice", "noName", "noPattern", "tooLong", null]);
});

test("a rule matches tools by name", () => {
  const known = ["write_file", "delete_file", "tickets__delete", "shell"];
  expect(toolsOf(all("*delete*"), known)).toEqual(["delete_file", "tickets__delete"]);
  expect(toolsOf(all("tickets__*", "allow"), known)).toEqual(["tickets__delete"]);
  expect(toolsOf(all("*"), known)).toEqual(known);
  expect(toolsOf(all("shel"), known)).toEqual([]);
});

test("a rule is found where it is now", () => {
  const rules = [all("a"), site, all("a")];
  expect(placeOf(rules, site, 0)).toBe(1);
  expect(placeOf(rules, all("a"), 2)).toBe(2);
  expect(placeOf(rules, all("b"), 0)).toBe(-1);
  expect(moved(rules, 1, 0).map(({ tool }) => tool)).toEqual(["write_file", "a", "a"]);
  expect(moved(rules, 0, 2).map(({ tool }) => tool)).toEqual(["write_file", "a", "a"]);
});

describe("a rule never applies after one that matches all its calls", () => {
  const git = (pattern: string, then: Verdict): ApprovalRule => ({
    tool: "shell",
    arguments: { command: pattern },
    then,
  });
  test.each<[string, ApprovalRule, ApprovalRule, boolean]>([
    ["the same tool", all("write_file"), site, true],
    ["another tool", all("shell"), site, false],
    ["a pattern of tools", all("*_file"), site, true],
    ["fewer calls", site, all("write_file"), false],
    ["a wider pattern", git("git *", "ask"), git("git log *", "deny"), true],
    ["a narrower pattern", git("git log *", "ask"), git("git *", "deny"), false],
    ["more calls than an allowing star matches", git("git *", "allow"), git("git *", "deny"), false],
    ["operators outside an allowing star", git("git *", "allow"), git("git log; *", "allow"), false],
    ["the same of an allowing rule", git("git *", "allow"), git("git log *", "allow"), true],
    ["a star that is written as such", git("2\\*3", "ask"), git("2*3", "ask"), false],
    ["any value", git("*", "allow"), git("git *", "deny"), true],
    ["another argument", { ...site, tool: "*" }, git("git *", "ask"), false],
  ])("%s", (_, earlier, later, isCovered) => {
    expect(coverOf([earlier, later], 1)).toBe(isCovered ? 0 : -1);
    expect(coverOf([earlier, later], 0)).toBe(-1);
  });
});
