/** Document errors name the cause in the user's language. */
import { expect, test } from "vitest";
import { loadLanguage } from "../../i18n/index.svelte.ts";
import { prefer } from "../preferences.svelte.ts";
import { pageNotes, wordsOf } from "./problems.ts";

test.each([
  ["en", "a ZIP archive"],
  ["ru", "архив ZIP"],
] as const)("what a damaged file is, is said: %s", async (language, words) => {
  prefer({ language });
  await loadLanguage();
  const problem = { code: "damaged", message: "", format: "a ZIP archive" };
  expect(wordsOf(problem)).toContain(words);
  expect(wordsOf({ ...problem, format: "PDF" })).toContain("PDF");
});

test("pages that are images are told: recognized ones, and unread ones with the reason", async () => {
  prefer({ language: "en" });
  await loadLanguage();
  const page = (number: number) => ({ number, start: number * 10 });
  const structure = { title: null, pages: [1, 2, 3, 5, 7].map(page), headings: [] };
  expect(pageNotes(structure)).toEqual({ recognized: "", unread: [] });
  expect(
    pageNotes({
      ...structure,
      recognized: [1, 2, 3, 7],
      unread: [{ number: 5, reason: "too_slow" }],
    }),
  ).toEqual({
    recognized: "Recognized text, may contain errors: pages 1–3, 7",
    unread: ["These pages are images, and recognizing their text took too long: 5"],
  });
  expect(pageNotes({ ...structure, pages: [], recognized: [1] }).recognized).toBe(
    "Recognized text, may contain errors.",
  );
});

test.each([
  ["en", "reader_busy", {}, "The external document reader is overloaded."],
  ["ru", "reader_busy", {}, "Внешняя программа чтения перегружена."],
  [
    "de",
    "recording_too_large",
    { limit: 25 },
    "Die Aufnahme ist zu groß. Höchstens 25 MB werden transkribiert.",
  ],
] as const)(
  "why a service did not read a document is said: %s, %s",
  async (language, code, params, words) => {
    prefer({ language });
    await loadLanguage();
    const message = "The external document reader is overloaded.";
    expect(wordsOf({ code: "reader_failed", message, sentence: { code, params } })).toBe(words);
  },
);
