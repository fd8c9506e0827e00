/** Sources of an answer: which are cited, and their URLs. */
import { expect, test } from "vitest";
import type { Source } from "../api/events.ts";
import { addressOf, besideRun, citedIn, known, passageInWords, quoteOf } from "./sources.ts";

const source = (id: string, more: Partial<Source> = {}): Source => ({
  id,
  title: `Page ${id}`,
  url: `https://a.example/${id}`,
  ...more,
});

test("numbers that are cited, each once", () => {
  expect(citedIn("a [2] b [1][2] and [2, 3] [x] [12345] a[3] [4")).toEqual(["2", "1"]);
});

test("a source told again is one source", () => {
  expect(known([source("1"), source("2"), source("1", { quote: "q" })])).toEqual([
    source("1", { quote: "q" }),
    source("2"),
  ]);
});

test("only addresses that may be followed are links", () => {
  expect(addressOf(source("1", { copy: "/knowledge/c/d?from=1&to=2" }))).toBe("/knowledge/c/d?from=1&to=2");
  expect(addressOf(source("1", { copy: "//evil.example" }))).toBe("https://a.example/1");
  expect(addressOf(source("1", { url: "javascript:alert(1)" }))).toBeNull();
});

test("a quote is shown in words, without the marks of Markdown where its copy is some", () => {
  const check = (quote: string, expected: string, copy = "/pages/page_1") =>
    expect(quoteOf(source("1", { quote, copy }))).toBe(expected);
  check("# Page 1\n\n## Height\n\nIt is **47** `m`.", "Height It is 47 m.");
  check("- one\n- [two](https://a.example/x) and [three](https://a.exa", "one two and three");
  check("| a | b |\n|---|:-:|\n| 1 | 2 |", "a · b 1 · 2");
  check("1 \\* 2 and 3 ** 4 and C# and #1", "1 * 2 and 3 ** 4 and C# and #1");
  check("# Page 1", "Page 1");
  check("# as it\n stands **here**", "# as it stands **here**", "/knowledge/c/d");
  for (const title of ["prices.XLSX", "notes.md", "page.htm"]) {
    expect(quoteOf(source("1", { title, quote: "| a | **b** |", copy: "/knowledge/c/d" }))).toBe("a · b");
  }
});

test("copies of pages can be opened by all who may read the run that cites them", () => {
  const sources = [
    source("1", { copy: "/pages/page_1?from=3&to=9" }),
    source("2", { copy: "/pages/page_2" }),
    source("3", { copy: "/knowledge/c/d?from=1&to=2" }),
    source("4", {}),
  ];
  expect(besideRun(sources, "run_1").map((one) => one.copy)).toEqual([
    "/pages/page_1?from=3&to=9&run=run_1",
    "/pages/page_2?run=run_1",
    "/knowledge/c/d?from=1&to=2",
    undefined,
  ]);
});

test("a passage of a Markdown document is read without its marks", () => {
  const text =
    "# The seal\n\nIt **sleeps** in [the harbour](/map).\n\n\n\n- one\n| fish | eel |\n|---|---|\n| 1 | 2 |\n```py\n# counts\n```\nEnd.";
  const words = "The seal\n\nIt sleeps in the harbour.\n\none\nfish · eel\n\n1 · 2\n# counts\nEnd.";
  expect(passageInWords(text, "seal.md")).toBe(words);
  expect(passageInWords("---\ntitle: Seal\ntags:\n- sea\n- ice\n---\n# Seals\n", "seal.md")).toBe("Seals");
  expect(passageInWords(`---\n${"-a:b\n".repeat(40)}`, "seal.md")).toContain("-a:b");
  expect(passageInWords(" # define X 1\n", "seal.txt")).toBe("# define X 1");
});
