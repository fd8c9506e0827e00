/** Server messages are translated in every language, with all their parameters. */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { prefer } from "../state/preferences.svelte.ts";
import { loadLanguage, said, translations } from "./index.svelte.ts";

const source = ts.createSourceFile(
  "messages.ts",
  readFileSync("src/api/messages.ts", "utf8"),
  ts.ScriptTarget.Latest,
);

/** Codes of the server's messages, each with its parameter names. */
function codes(): [string, string[]][] {
  const messages = source.statements.find(ts.isInterfaceDeclaration);
  const members = [...(messages?.members ?? [])].filter((one) => ts.isPropertySignature(one));
  return members.map(({ name, type }) => {
    if (!type || !ts.isTupleTypeNode(type)) throw new Error("the parameters are no list");
    const params = type.elements.map((one) => JSON.parse(one.getText(source)) as string);
    return [name.getText(source), params];
  });
}

const known = codes();

describe.each(Object.entries(translations))("in %s", async (language, translation) => {
  const { sentences = {} } = await translation.texts();
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories.toSorted();

  test("there are no sentences but those of the server", () => {
    expect(known.length).toBeGreaterThan(300);
    expect(Object.keys(sentences).sort()).toEqual(known.map(([code]) => code).sort());
  });

  test.each(known)("%s has the values of the English one", (code, params) => {
    const entry = sentences[code as keyof typeof sentences];
    const texts = typeof entry === "string" ? [entry] : Object.values<string>(entry);
    if (typeof entry !== "string") expect(Object.keys(entry).sort()).toEqual(forms);
    for (const text of texts) {
      const shown = [...new Set(text.match(/(?<=\{)\w+(?=\})/g))].sort();
      expect(shown).toEqual([...params].sort());
    }
  });
});

describe("in Russian", () => {
  beforeAll(async () => {
    prefer({ language: "ru" });
    await loadLanguage();
  });

  test("what has a code is said in it, also within another sentence", () => {
    const why = {
      message: "The model server failed (500). Try again later. It says: busy",
      sentence: {
        code: "saying",
        params: {
          words: {
            message: "The model server failed (500). Try again later.",
            sentence: { code: "model_failed", params: { status: 500 } },
          },
          quote: "busy",
        },
      },
    };
    const sentence = { code: "other_model", params: { before: "first", after: "second", why } };
    expect(said({ message: "…", sentence })).toBe(
      "Модель first не удалось спросить, вместо неё отвечает second. Сервер модели не справился (500). Попробуйте позже. Его ответ: «busy»",
    );
  });

  test("the number chooses the form", () => {
    const pages = (count: number) =>
      said({ message: "", sentence: { code: "reading_pages", params: { count } } });
    expect([1, 2, 5].map(pages)).toEqual(["Читает 1 страницу…", "Читает 2 страницы…", "Читает 5 страниц…"]);
  });

  test("what has none, or one that the page does not know, is said as the server says it", () => {
    expect(said({ message: "As in an old log." })).toBe("As in an old log.");
    for (const code of ["of_tomorrow", "constructor", "__proto__"]) {
      expect(said({ message: "Something new.", sentence: { code } })).toBe("Something new.");
    }
  });
});

test("in English it is what the server says", async () => {
  prefer({ language: "en" });
  await loadLanguage();
  expect(said({ message: "Thinking…", sentence: { code: "thinking" } })).toBe("Thinking…");
});
