/** The line diff of two texts. */
import { expect, test } from "vitest";
import { lineDiff, withContext } from "./line-diff.ts";

const signs = { same: " ", added: "+", removed: "-" };
const shown = (before: string, after: string) =>
  lineDiff(before, after).map((line) => `${signs[line.kind]}${line.text}`);

test("lines are kept, removed and added", () => {
  expect(shown("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual([" a", "-b", "+B", " c", "+d"]);
  expect(shown("a\nx\nb\ny\nc", "a\nb\nc")).toEqual([" a", "-x", " b", "-y", " c"]);
  expect(shown("", "a\n\nb")).toEqual(["+a", "+", "+b"]);
  expect(shown("a\r\nb", "a\nb\n")).toEqual([" a", " b"]);
  expect(shown("same", "same")).toEqual([" same"]);
});

test("lines have their numbers in both texts", () => {
  expect(lineDiff("a\nb\nc", "a\nc")).toEqual([
    { kind: "same", old: 1, new: 1, text: "a" },
    { kind: "removed", old: 2, text: "b" },
    { kind: "same", old: 3, new: 2, text: "c" },
  ]);
});

test("texts too long to compare line by line are replaced as a whole", () => {
  const text = (word: string) => Array.from({ length: 1200 }, (_, at) => `${word}${at % 7}`).join("\n");
  const lines = lineDiff(`head\n${text("a")}`, `head\n${text("b")}`);
  expect(lines).toHaveLength(2401);
  expect(lines[0]).toMatchObject({ kind: "same", text: "head" });
});

test("unchanged lines far from a change are left out", () => {
  const text = (changed: string) =>
    ["1", "2", "3", "4", changed, "6", "7", "8", "9", "10"].map((line) => `${line}\n`).join("");
  const lines = withContext(lineDiff(text("5"), text("five")), 2);
  expect(lines.map((line) => line?.text ?? null)).toEqual([null, "3", "4", "5", "five", "6", "7", null]);
  const near = withContext(lineDiff("1\n2\n3\n4\n5\n", "one\n2\n3\n4\nfive\n"), 1);
  expect(near.map((line) => line?.text ?? null)).toEqual(["1", "one", "2", "3", "4", "5", "five"]);
});
