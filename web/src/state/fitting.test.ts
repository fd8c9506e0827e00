/** Which sentences of a passage a statement rests on. */
import { expect, test } from "vitest";
import { fitting, narrowed, statementBefore, statementIn, withStatement } from "./fitting.ts";

const fit = (passage: string, statement: string) => {
  const span = fitting(passage, statement);
  return span && passage.slice(span.start, span.end);
};

const RULES =
  "# Travel\n\nTrips are booked with the travel office. Hotels cost up to 140 euros a night, breakfast included. " +
  "Receipts are handed in within 30 days.\n\n| Country | Limit |\n| --- | --- |\n| Norway | 190 |\n| Spain | 120 |\n";

test.each([
  ["A night in a hotel may cost 140 euros.", "Hotels cost up to 140 euros a night, breakfast included."],
  ["You have 30 days for handing in receipts.", "Receipts are handed in within 30 days."],
  ["In Norway the limit is 190 euros.", "| Norway | 190 |"],
])("in English: %s", (statement, expected) => {
  expect(fit(RULES, statement)).toBe(expected);
});

test.each([
  [
    "Отпуск составляет 28 дней. Заявление подают за две недели. Перенести отпуск можно один раз.",
    "Подать заявление нужно за две недели.",
    "Заявление подают за две недели.",
  ],
  ["年假为十五天。申请须提前两周提交。每年可以推迟一次。", "需要提前两周提交申请。", "申请须提前两周提交。"],
  [
    "Der Urlaub beträgt 28 Tage. Anträge stellt man zwei Wochen vorher. Er verfällt im März.",
    "Man muss den Antrag zwei Wochen vorher stellen.",
    "Anträge stellt man zwei Wochen vorher.",
  ],
])("in other languages: %s", (passage, statement, expected) => {
  expect(fit(passage, statement)).toBe(expected);
});

test("sentences that say it together are one span", () => {
  const passage = "The mill was built in 1820. Its wheel broke in 1911. The mill is a museum.";
  expect(fit(passage, "The mill, built in 1820, lost its wheel in 1911.")).toBe(
    "The mill was built in 1820. Its wheel broke in 1911.",
  );
});

test("lines of a printed page do not end sentences, items of a list do", () => {
  const printed =
    "The lease begins in May. Either party\nends it in writing, two months\nbefore. Dogs are allowed.\n";
  expect(fit(printed, "Each party can end it in writing two months before [1].")).toBe(
    "Either party\nends it in writing, two months\nbefore.",
  );
  expect(
    fit("Rooms:\n- Oslo has 9 seats\n- Rome has 12 seats\n\n1. Ring the bell\n2. Wait", "Rome has 12 seats"),
  ).toBe("- Rome has 12 seats");
});

test("where nothing fits, all of the passage is shown", () => {
  expect(fit(RULES, "Whales sing at night.")).toBe(null);
  expect(fit(RULES, "")).toBe(null);
  expect(fit("One sentence only.", "One sentence only.")).toBe(null);
  expect(narrowed("ab One. Two.", { start: 3, end: 12 }, "Whales.")).toEqual({ start: 3, end: 12 });
  expect(narrowed("ab", null, "x")).toBe(null);
});

test("the span is one of the whole text", () => {
  const start = RULES.indexOf("Trips");
  const span = narrowed(RULES, { start, end: RULES.length }, "Receipts within 30 days.");
  expect(span && RULES.slice(span.start, span.end)).toBe("Receipts are handed in within 30 days.");
});

test("the statement is the sentence that the mark ends", () => {
  const root = document.createElement("div");
  root.innerHTML =
    '<p>One costs 4.50 euros <button data-cite="1">1</button>. Two <b>cost</b> 9<button data-cite="1">1</button><button data-cite="2">2</button></p><ul><li>Three <button data-cite="3">3</button></li></ul>';
  const marks = [...root.querySelectorAll<HTMLElement>("button")].map(statementBefore);
  expect(marks).toEqual(["One costs 4.50 euros", "Two cost 9", "Two cost 9", "Three"]);
});

test("only the address of a passage gets the statement", () => {
  const address = withStatement("/knowledge/a/b?from=1&to=9", "a & b");
  expect(address).toBe("/knowledge/a/b?from=1&to=9#statement=a%20%26%20b");
  expect(statementIn(new URL(address, "https://a.example").hash)).toBe("a & b");
  expect(statementIn("#statement=%")).toBe("");
  expect(statementIn("#heading-1")).toBe("");
  expect(withStatement("/knowledge/a/b", "a")).toBe("/knowledge/a/b");
  expect(withStatement("/pages/a?from=1&to=9", "")).toBe("/pages/a?from=1&to=9");
});
