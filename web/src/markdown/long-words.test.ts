// Long words are cut into pieces of bounded length without a change of the text.

import { expect, test } from "vitest";
import { cutLongWords } from "./long-words";

const textOf = (html: string) => html.replace(/<[^>]*>/g, "");

test.each([
  ["combining marks", `a${"\u0301".repeat(1000)}b`, 128],
  ["skin tones", "\u{1f3fd}".repeat(500), 256],
  ["Hebrew points", `א${"\u05b0".repeat(1000)}`, 128],
  ["an Arabic word", "\u0628".repeat(2000), 257],
])("%s", (_, text, longest) => {
  const html = cutLongWords(`<p title="x">${text}</p>`);
  expect(textOf(html)).toBe(text);
  expect(Math.max(...html.split(/<[^>]*>/).map(({ length }) => length))).toBeLessThan(longest);
});

test("attributes are not cut", () => {
  const html = `<a title="${"\u0301".repeat(200)}">x</a>`;
  expect(cutLongWords(html)).toBe(html);
});

test.each([
  "word ".repeat(100),
  "的".repeat(1000),
  "x".repeat(1000),
  "e\u0301\u0323 ".repeat(100),
  "👨‍👩‍👧‍👦".repeat(10),
])("ordinary text stays as it is", (text) => expect(cutLongWords(text)).toBe(text));
