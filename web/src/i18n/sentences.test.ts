/** What the server says has words in every language, and they show all that stands in it. */
import { readFileSync } from "node:fs";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { prefer } from "../state/preferences.svelte.ts";
import { loadLanguage, said } from "./index.svelte.ts";
import { sentences } from "./sentences.ru.ts";

const source = ts.createSourceFile(
  "events.ts",
  readFileSync("src/api/events.ts", "utf8"),
  ts.ScriptTarget.Latest,
);

/** What a type of this name is one of. */
function union(name: string): ts.TypeNode[] {
  const type = source.statements.find(
    (one): one is ts.TypeAliasDeclaration => ts.isTypeAliasDeclaration(one) && one.name.text === name,
  )?.type;
  if (!type || !ts.isUnionTypeNode(type)) throw new Error(`the events have no ${name}`);
  return [...type.types];
}

/** The codes of the server, each with the names of what stands in its sentence. */
function codes(): [string, string[]][] {
  const lists = union("Coded").map((list) => union(list.getText(source)));
  return lists.flat().map((one) => {
    if (!ts.isTypeLiteralNode(one)) throw new Error("a sentence is no object");
    const field = (name: string) =>
      one.members.find(
        (member): member is ts.PropertySignature =>
          ts.isPropertySignature(member) && member.name.getText(source) === name,
      )?.type;
    const params = field("params");
    const names = params && ts.isTypeLiteralNode(params) ? params.members : [];
    const code = JSON.parse(field("code")?.getText(source) ?? "") as string;
    return [code, names.map((member) => member.name?.getText(source) ?? "")];
  });
}

const known = codes();

test("there are no sentences but those of the server", () => {
  expect(known.length).toBeGreaterThan(300);
  expect(Object.keys(sentences).sort()).toEqual(known.map(([code]) => code).sort());
});

test.each(known)("%s says in Russian what it says in English", (code, params) => {
  const entry = sentences[code as keyof typeof sentences];
  const texts = typeof entry === "string" ? [entry] : Object.values(entry);
  if (typeof entry !== "string") expect(Object.keys(entry).sort()).toEqual(["few", "many", "one", "other"]);
  for (const text of texts) {
    const shown = [...new Set(text.match(/(?<=\{)\w+(?=\})/g))].sort();
    expect(shown).toEqual([...params].sort());
  }
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
        code: "saying" as const,
        params: {
          words: {
            message: "The model server failed (500). Try again later.",
            sentence: { code: "model_failed" as const, params: { status: 500 } },
          },
          quote: "busy",
        },
      },
    };
    const sentence = { code: "other_model" as const, params: { before: "first", after: "second", why } };
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
      const sentence = { code } as unknown as { code: "thinking" };
      expect(said({ message: "Something new.", sentence })).toBe("Something new.");
    }
  });
});

test("in English it is what the server says", async () => {
  prefer({ language: "en" });
  await loadLanguage();
  expect(said({ message: "Thinking…", sentence: { code: "thinking" } })).toBe("Thinking…");
});
