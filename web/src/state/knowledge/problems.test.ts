/** Document errors name the cause in the user's language. */
import { expect, test } from "vitest";
import { loadLanguage } from "../../i18n/index.svelte.ts";
import { prefer } from "../preferences.svelte.ts";
import { wordsOf } from "./problems.ts";

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
