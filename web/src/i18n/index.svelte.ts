/** The page's words in the reader's language. English is built in; other languages load when chosen. */
import { preferences, type Language } from "../state/preferences.svelte.ts";
import { en } from "./en.ts";

/** A sentence, or one per plural form; `{name}` is replaced by a value. */
export type Entry = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type Key = keyof typeof en;
export type Dictionary = Record<Key, Entry>;
export type Values = Record<string, string | number>;

export const languages: Record<Language, string> = { en: "English", ru: "Русский" };

const loaders: Record<Language, () => Promise<Dictionary>> = {
  en: () => Promise.resolve(en),
  ru: async () => (await import("./ru.ts")).ru,
};

interface Words {
  language: Language;
  dictionary: Dictionary;
  plurals: Intl.PluralRules;
  numbers: Intl.NumberFormat;
}

const wordsOf = (language: Language, dictionary: Dictionary): Words => ({
  language,
  dictionary,
  plurals: new Intl.PluralRules(language),
  numbers: new Intl.NumberFormat(language),
});

let words = $state.raw<Words>(wordsOf("en", en));

/** Loads and shows the chosen language. */
export async function loadLanguage(): Promise<void> {
  const language = preferences.language in loaders ? preferences.language : "en";
  words = wordsOf(language, await loaders[language]());
  document.documentElement.lang = language;
}

/** The language that is shown now. */
export function language(): Language {
  return words.language;
}

/** The sentence for `key`; where it has plural forms, `values.count` chooses. */
export function t(key: Key, values: Values = {}): string {
  const entry: Entry = words.dictionary[key];
  const text =
    typeof entry === "string" ? entry : (entry[words.plurals.select(Number(values.count))] ?? entry.other);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === "number" ? words.numbers.format(value) : (value ?? whole);
  });
}
