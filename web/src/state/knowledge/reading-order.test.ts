/** Runs of a PDF page in reading order. */
import { expect, test } from "vitest";
import { findPassage } from "./passage.ts";
import { readingOrder, type Run } from "./reading-order.ts";

const run = (str: string, x: number, y = 700): Run => ({
  str,
  dir: /\p{Script=Arabic}|\p{Script=Hebrew}/u.test(str) ? "rtl" : "ltr",
  x,
  y,
  height: 10,
});
const read = (runs: Run[]) => readingOrder(runs).map((index) => runs[index]?.str);

test("text from left to right stays as it is written, also in columns", () => {
  const runs = [run("left one", 50), run("right one", 300), run("left two", 50, 680), run("up", 60, 684)];
  expect(read(runs)).toEqual(["left one", "right one", "left two", "up"]);
});

test("letters of Arabic that are written from the left are read from the right, line by line", () => {
  const runs = [run("ﺪ", 10), run("ﻘ", 15), run("ﻌ", 20), run("ﻟ", 25), run("ا", 30), run("ﺓﺪﻣ", 20, 680)];
  expect(read(runs)).toEqual(["ا", "ﻟ", "ﻌ", "ﻘ", "ﺪ", "ﺓﺪﻣ"]);
  const found = findPassage(read(runs).map((text) => text ?? ""), "العقد"); // prettier-ignore
  expect(found?.map((range) => range.piece)).toEqual([0, 1, 2, 3, 4]);
});

test("what is in the right order stays so", () => {
  const runs = [run("خوزه", 90), run("שלום", 60), run("עולם", 30)];
  expect(read(runs)).toEqual(["خوزه", "שלום", "עולם"]);
});

test("numbers and names in between are read from the left", () => {
  const runs = [run("سنة", 10), run("2", 30), run("0", 35), run("2", 40), run("6", 45), run("في", 60)];
  expect(read(runs)).toEqual(["في", "2", "0", "2", "6", "سنة"]);
});

test("an empty page has no order", () => {
  expect(readingOrder([])).toEqual([]);
});
