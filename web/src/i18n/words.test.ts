/** The dictionaries of all languages have the same placeholders, and all plural forms of their language. */
import { describe, expect, test } from "vitest";
import { en } from "./en/dictionary.ts";
import { translations, type Entry, type Key } from "./index.svelte.ts";

const placeholders = (entry: Entry) => [...new Set(JSON.stringify(entry).match(/\{\w+\}/g))].sort().join(" ");

describe.each(Object.entries(translations))("in %s", async (language, translation) => {
  const { dictionary } = await translation.texts();

  test.each(Object.keys(en) as Key[])("%s takes the same values", (key) => {
    expect(placeholders(dictionary[key])).toBe(placeholders(en[key]));
  });

  test("there are no texts but those of English", () => {
    expect(Object.keys(dictionary).sort()).toEqual(Object.keys(en).sort());
  });

  test("plurals have all their forms", () => {
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();
    for (const entry of Object.values(dictionary)) {
      if (typeof entry !== "string") expect(Object.keys(entry).sort()).toEqual(forms);
    }
  });
});
