/** Pages and headings of passages. */
import { expect, test } from "vitest";
import type { Structure } from "../../api/knowledge.ts";
import { passagesByPage, placeOf } from "./pages.ts";

// Places are bytes: “ж” has two, “😀” four.
const text = "Жук один\n\n😀 second page\n\nthird";
const bytes = (part: string) => new TextEncoder().encode(text.slice(0, text.indexOf(part))).length;
const heading = (level: number, title: string) => ({
  level,
  title,
  span: { start: bytes(title), end: bytes(title) },
});
const structure: Structure = {
  title: null,
  pages: [
    { number: 1, start: 0 },
    { number: 2, start: bytes("😀") },
    { number: 3, start: bytes("third") },
  ],
  headings: [heading(1, "Жук"), heading(3, "один"), heading(2, "second"), heading(1, "third")],
};
const span = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length });

test("a passage is divided among its pages", () => {
  expect(passagesByPage(text, structure, span("page"))).toEqual([{ page: 2, text: "page", at: 6 }]);
  expect(passagesByPage(text, structure, span("один\n\n😀 second"))).toEqual([
    { page: 1, text: "один\n\n", at: 3 },
    { page: 2, text: "😀 second", at: 0 },
  ]);
  // No letters of it are on the third page.
  expect(passagesByPage(text, structure, span("page\n\n")).map(({ page }) => page)).toEqual([2]);
});

test("without known pages it is looked for on the first, and without a passage nowhere", () => {
  expect(passagesByPage(text, null, span("page"))).toEqual([{ page: 1, text: "page", at: 0 }]);
  expect(passagesByPage(text, structure, null)).toEqual([]);
});

test("a passage has a page and the headings above it", () => {
  expect(placeOf(text, structure, span("один"))).toEqual({ page: 1, headings: ["Жук", "один"] });
  expect(placeOf(text, structure, span("page"))).toEqual({ page: 2, headings: ["Жук", "second"] });
  expect(placeOf(text, structure, span("third"))).toEqual({ page: 3, headings: ["third"] });
  expect(placeOf(text, null, span("third"))).toEqual({ page: null, headings: [] });
});
