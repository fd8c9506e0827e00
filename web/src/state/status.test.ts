/** What runs say of themselves, in the reader's words. */
import { expect, test } from "vitest";
import { loadLanguage } from "../i18n/index.svelte.ts";
import { prefer } from "./preferences.svelte.ts";
import { noticeWords, statusWords } from "./status.ts";

test("fixed words are said in the reader's language, others stay", async () => {
  prefer({ language: "ru" });
  await loadLanguage();
  const check = (status: string, expected: string) => expect(statusWords(status)).toBe(expected);
  check("Thinking…", "Думает…");
  check("Summing up older steps…", "Сжимает прежние шаги…");
  check("Asking the model again in 12 s…", "Снова спросит модель через 12 с…");
  check("Planning…", "Составляю план…");
  check("Turn 2 - Searching…", "Круг 2 — поиск…");
  check("Turn 1 - Reading 6 sources…", "Круг 1 — читаю 6 источников…");
  check("Reading 1 page…", "Читаю 1 страницу…");
  check("Searching 2 queries…", "Ищу по 2 запросам…");
  check("Writing the report…", "Пишу отчёт…");
  check("Packing the boxes", "Packing the boxes");
});

test("and so is what they note", () => {
  const check = (notice: string, expected: string) => expect(noticeWords(notice)).toBe(expected);
  check(
    "3 of 4 cited notes have a quote that was found word for word in the source.",
    "Найдено слово в слово: 3 из 4 приведённых цитат.",
  );
  check("The model gave an empty answer.", "Модель дала пустой ответ.");
  check(
    "The report cites none of the notes: nothing shows where it comes from.",
    "Отчёт не ссылается ни на одну заметку: ничто не показывает, откуда он взят.",
  );
  check("The server said something else.", "The server said something else.");
});
