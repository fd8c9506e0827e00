/** The language of the page is the chosen one, else the browser's, and its direction is set before the first paint. */
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { browserLanguage, languageCodes, prefer } from "../state/preferences.svelte.ts";
import { formatCount, formatList, formatOffset } from "./format.ts";
import { languages, loadLanguage, locale, translations } from "./index.svelte.ts";

const script = readFileSync("public/theme.js", "utf8");

/** The attributes that `theme.js` sets. */
function setFirst(stored: string | null, tags: string[]) {
  const root = { lang: "en", dir: "", dataset: {} };
  runInNewContext(script, {
    document: { documentElement: root, querySelectorAll: () => [] },
    localStorage: { getItem: () => stored },
    matchMedia: () => ({ matches: false }),
    navigator: { languages: tags },
  });
  return root;
}

afterEach(async () => {
  prefer({ language: "en" });
  await loadLanguage();
});

test("every language has a name and texts", () => {
  expect(Object.keys(languages).sort()).toEqual(languageCodes.toSorted());
  expect(["en", ...Object.keys(translations)].sort()).toEqual(languageCodes.toSorted());
});

test.each([
  [["ar-EG", "en"], "ar"],
  [["he", "ru-RU", "ar"], "ru"],
  [["EN-us"], "en"],
  [["pt-PT", "es"], "pt"],
  [["xx", "yy-ZZ"], "en"],
  [[], "en"],
])("a browser in %j has the page in %s, from the first paint on", (tags, language) => {
  vi.stubGlobal("navigator", { languages: tags });
  expect(browserLanguage()).toBe(language);
  expect(setFirst(null, tags).lang).toBe(language);
  expect(setFirst("no JSON", tags).lang).toBe(language);
  expect(setFirst('{"language":"xx"}', tags).lang).toBe(language);
});

test.each(languageCodes)("the first paint of a page in %s is laid out like the rest", async (language) => {
  prefer({ language });
  await loadLanguage();
  const { lang, dir } = document.documentElement;
  expect(setFirst(JSON.stringify({ language, theme: "dark" }), ["en"])).toEqual({
    lang,
    dir,
    dataset: { theme: "dark" },
  });
  expect(dir).toBe(language === "ar" ? "rtl" : "ltr");
});

describe("in Arabic", () => {
  beforeEach(async () => {
    prefer({ language: "ar" });
    await loadLanguage();
  });

  test("numbers have the digits of the texts, and keep their signs", () => {
    expect(locale()).toBe("ar-u-nu-latn");
    expect(formatCount(12_000)).toBe("12,000");
    expect(formatOffset(40)).toBe("\u2068+0.04\u2069 ث");
    expect(formatOffset(125_300)).toBe("\u2068+2:05.3\u2069");
  });

  test("lists have Arabic commas, and names in other scripts are isolated", () => {
    expect(formatList(["openai", "نموذج"])).toBe("\u2068openai\u2069، \u2068نموذج\u2069");
  });
});

test("in English they are as they are", () => {
  expect(formatOffset(40)).toBe("+0.04 s");
  expect(formatList(["a", "b"])).toBe("a, b");
});
