/** The page's words in the reader's language. English is built in; other languages load when chosen. */
import { preferences, type Language } from "../state/preferences.svelte.ts";
import type { LocalizedText } from "../api/events.ts";
import type { Messages } from "../api/messages.ts";
import { en } from "./en.ts";

/** A sentence, or one per plural form; `{name}` is replaced by a value. */
export type Entry = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type Key = keyof typeof en;
export type Dictionary = Record<Key, Entry>;
export type Values = Record<string, string | number>;

export const languages: Record<Language, string> = { en: "English", ru: "Русский" };

/** What the server says is English already; other languages have their own words for it, by its codes. */
interface Texts {
  dictionary: Dictionary;
  sentences?: Record<keyof Messages, Entry>;
}

const loaders: Record<Language, () => Promise<Texts>> = {
  en: () => Promise.resolve({ dictionary: en }),
  ru: async () => {
    const [{ ru }, { sentences }] = await Promise.all([import("./ru.ts"), import("./sentences.ru.ts")]);
    return { dictionary: ru, sentences };
  },
};

interface Words extends Texts {
  language: Language;
  plurals: Intl.PluralRules;
  numbers: Intl.NumberFormat;
}

const wordsOf = (language: Language, texts: Texts): Words => ({
  ...texts,
  language,
  plurals: new Intl.PluralRules(language),
  numbers: new Intl.NumberFormat(language),
});

let words = $state.raw<Words>(wordsOf("en", { dictionary: en }));

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
  return filled(words.dictionary[key], values);
}

/** What the server says, in the reader's language; where the page has no words for it, as the server says it. */
export function said({ message, sentence }: LocalizedText): string {
  const { sentences } = words;
  // A server of another version may say more than this page knows.
  if (!sentence || !sentences || !Object.hasOwn(sentences, sentence.code)) return message;
  const values = Object.entries(sentence.params ?? {}).map(([name, value]) => [
    name,
    typeof value === "object" ? said(value) : value,
  ]);
  return filled(sentences[sentence.code as keyof Messages], Object.fromEntries(values) as Values);
}

function filled(entry: Entry, values: Values): string {
  const text =
    typeof entry === "string" ? entry : (entry[words.plurals.select(Number(values.count))] ?? entry.other);
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === "number" ? words.numbers.format(value) : (value ?? whole);
  });
}
