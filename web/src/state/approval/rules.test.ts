/** Patterns match as on the server; the cases are those of `crates/agent/src/approval/rules.rs`. */
import { describe, expect, test } from "vitest";
import { exactPattern } from "../arguments.ts";
import { ruleFits, suits, valueFits } from "./rules.ts";

describe("a pattern", () => {
  test.each<[string, string, boolean]>([
    ["ls", "ls", true],
    ["ls", "ls -l", false],
    ["git *", "git log --oneline", true],
    ["git *", "git log; rm -r .", false],
    ["git *", "git log && rm -r .", false],
    ["git *", "git log $(rm -r .)", false],
    ["git *", "git log\nrm -r .", false],
    ["/notes/*", "/notes/plan.md", true],
    ["/notes/*", "/notes/../etc/passwd", false],
    ["../*", "../a", true],
    ["../*", "../a/../../b", false],
    ["/a/.*", "/a/..", false],
    ["cat *", "cat ../secret", false],
    ["--file=*", "--file=../x", false],
    ["*", "", true],
    ["*", "a; b\n../c", true],
    ["*.md", "/a/b.md", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["aba*aba", "aba", false],
    ["2\\*3", "2*3", true],
    ["2\\*3", "2x3", false],
    ["", "", true],
    ["", "x", false],
  ])("%j for %j: %s", (pattern, text, expected) => {
    expect(valueFits(pattern, text)).toBe(expected);
  });

  test("of a value that is not a text is exact or a lone star", () => {
    expect(valueFits("7", 7)).toBe(true);
    expect(valueFits('["a","b"]', ["a", "b"])).toBe(true);
    expect(valueFits('["a*', ["a", "b"])).toBe(false);
    expect(suits('["a*', ["a", "b"])).toBe(false);
    expect(valueFits("*", { a: 1 })).toBe(true);
    expect(valueFits("*", "")).toBe(true);
    for (const value of ["a*b\\*", "\\", 1.5, null, true, ["*"]]) {
      expect(valueFits(exactPattern(value), value)).toBe(true);
    }
  });
});

test("a rule has exactly the arguments of the call", () => {
  const rule = { path: "/notes/*", content: "*" };
  expect(ruleFits(rule, { path: "/notes/a.md", content: "x" })).toBe(true);
  expect(ruleFits(rule, { path: "/notes/a.md" })).toBe(false);
  expect(ruleFits(rule, { path: "/notes/a.md", content: "x", mode: 1 })).toBe(false);
  expect(ruleFits(rule, { path: "/b.md", content: "x" })).toBe(false);
  expect(ruleFits({}, {})).toBe(true);
  expect(ruleFits({}, { toString: 1 })).toBe(false);
  for (const other of [null, "text", ["/notes/a.md", "x"]]) expect(ruleFits(rule, other)).toBe(false);
});
