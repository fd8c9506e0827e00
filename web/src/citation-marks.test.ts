/** The same cases as on the server. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Links } from "marked";
import { citationMarks, citedNumbers } from "./citation-marks.ts";
import { collectLinks, lex, tokensToHtml } from "./markdown/syntax.ts";

interface Case {
  text: string;
  /** `number@character` of each mark. */
  marks: string[];
}

const cases = JSON.parse(readFileSync("../crates/domain/tests/citation_marks.json", "utf8")) as Case[];

test.each(cases)("$text", ({ text, marks }) => {
  const found = citationMarks(text).map(({ number, start, end }) => {
    expect(text.slice(start, end)).toBe(`[${number}]`);
    return `${number}@${[...text.slice(0, start)].length}`;
  });
  expect(found).toEqual(marks);
});

test("each number is told once", () => {
  expect(citedNumbers("So [2]. Or [1][2], not [3")).toEqual([2, 1]);
});

test.each(["[1]", "[", "[[1]](", "\\[", "](", "`` ` ", "> ", "\n    [1]"])("many %j are read", (piece) => {
  const text = piece.repeat(60_000 / piece.length);
  expect(citationMarks(text).length).toBeLessThan(text.length);
});

test("the Markdown engine makes marks of the same brackets", () => {
  for (const { text } of cases) {
    const links: Links = {};
    collectLinks(lex(text, links, false), links);
    const html = tokensToHtml(lex(text, links, false));
    const cites = [...html.matchAll(/data-cites="(\d+)"/g)].map(([, number]) => Number(number));
    expect(cites, text).toEqual(citationMarks(text).map(({ number }) => number));
  }
});
