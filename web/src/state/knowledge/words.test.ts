/** Highlighting the words of a query in a passage. */
import { expect, test } from "vitest";
import { splitByWords } from "./words.ts";

function check(text: string, query: string, expected: string[]) {
  const pieces = splitByWords(text, query);
  expect(pieces.map((piece) => piece.text).join("")).toBe(text);
  expect(pieces.filter((piece) => piece.hit).map((piece) => piece.text)).toEqual(expected);
}

test("words are marked with other endings", () => {
  check("Contracts end; a contract ended.", "when do contracts end", ["Contracts", "contract"]);
  check("По договору, с договорами.", "как расторгнуть договор", ["договору", "договорами"]);
  check("A contrast is none.", "contract", []);
});

test("short words count where they say something", () => {
  check("The API of the port 80.", "the API and port 80", ["API", "port", "80"]);
  check("The end.", "the", ["The"]);
  check("Version 2024 and 2025.", "2024", ["2024"]);
});

test("scripts without spaces are marked inside", () => {
  check("我们的合同到期", "合同", ["合同"]);
});

test("nothing is lost where nothing is found", () => {
  check("", "word", []);
  check("words", "  ", []);
});
