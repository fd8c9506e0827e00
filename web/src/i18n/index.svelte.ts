/** Translations of the page. English is built in; other languages are loaded on demand. */
import { isolated } from "../state/direction.ts";
import { preferences, type Language } from "../state/preferences.svelte.ts";
import type { LocalizedText } from "../api/events.ts";
import type { Messages } from "../api/messages.ts";
import { en } from "./en/dictionary.ts";

/** A text, or one per plural form; `{name}` is a placeholder. */
export type Entry = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type Key = keyof typeof en;
export type Dictionary = Record<Key, Entry>;
export type Values = Record<string, string | number>;

interface Texts {
  dictionary: Dictionary;
  /** Server messages, by code; the server itself sends them in English. */
  sentences?: Record<keyof Messages, Entry>;
}

interface Translation {
  texts: () => Promise<Texts>;
  /** Descriptions of the server settings, by name; the server itself sends them in English. */
  serverSettings: () => Promise<{ serverSettings: Readonly<Record<string, string>> }>;
}

/** The names of the languages, each in itself. */
export const languages: Record<Language, string> = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português (Brasil)",
  ru: "Русский",
  ar: "العربية",
  zh: "简体中文",
  ja: "日本語",
};

const rightToLeft: readonly Language[] = ["ar"];

export const translations: Record<Exclude<Language, "en">, Translation> = {
  de: { texts: () => import("./de/index.ts"), serverSettings: () => import("./de/server-settings.ts") },
  es: { texts: () => import("./es/index.ts"), serverSettings: () => import("./es/server-settings.ts") },
  fr: { texts: () => import("./fr/index.ts"), serverSettings: () => import("./fr/server-settings.ts") },
  pt: { texts: () => import("./pt/index.ts"), serverSettings: () => import("./pt/server-settings.ts") },
  ru: { texts: () => import("./ru/index.ts"), serverSettings: () => import("./ru/server-settings.ts") },
  ar: { texts: () => import("./ar/index.ts"), serverSettings: () => import("./ar/server-settings.ts") },
  zh: { texts: () => import("./zh/index.ts"), serverSettings: () => import("./zh/server-settings.ts") },
  ja: { texts: () => import("./ja/index.ts"), serverSettings: () => import("./ja/server-settings.ts") },
};

const textsOf = (language: Language): Promise<Texts> =>
  language === "en" ? Promise.resolve({ dictionary: en }) : translations[language].texts();

/** The locale of numbers and dates: with the digits that the texts use, which in Arabic the browser would not choose. */
const localeOf = (language: Language): string => (language === "ar" ? "ar-u-nu-latn" : language);

interface Words extends Texts {
  language: Language;
  plurals: Intl.PluralRules;
  numbers: Intl.NumberFormat;
}

const wordsOf = (language: Language, texts: Texts): Words => ({
  ...texts,
  language,
  plurals: new Intl.PluralRules(language),
  numbers: new Intl.NumberFormat(localeOf(language)),
});

let words = $state.raw<Words>(wordsOf("en", { dictionary: en }));

/** Loads and activates the chosen language, with the direction of the page. */
export async function loadLanguage(): Promise<void> {
  const { language } = preferences;
  try {
    words = wordsOf(language, await textsOf(language));
  } finally {
    // If the texts are missing, the page stays in its language, whatever `theme.js` has set.
    document.documentElement.lang = words.language;
    document.documentElement.dir = rightToLeft.includes(words.language) ? "rtl" : "ltr";
  }
}

/** The active language. */
export function language(): Language {
  return words.language;
}

/** The locale in which numbers and dates are written. */
export function locale(): string {
  return localeOf(words.language);
}

/** The text for `key`; if it has plural forms, `values.count` selects one. */
export function t(key: Key, values: Values = {}): string {
  return filled(words.dictionary[key], values);
}

/** Translates a server message; falls back to the server's own text. */
export function said({ message, sentence }: LocalizedText): string {
  const { sentences } = words;
  // A server of another version may send unknown codes.
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
    if (typeof value === "number") return words.numbers.format(value);
    return value === undefined ? whole : isolated(value);
  });
}
