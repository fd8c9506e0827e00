/** Citation marks at the cited positions of a text. */
import { expect, test } from "vitest";
import type { Source } from "../api/events.ts";
import { withMarks } from "./cited-places.ts";

const source = (id: string, ...places: [number, number][]): Source => ({
  id,
  title: "T",
  url: "https://a.org/",
  cited: places.map(([start, end]) => ({ item: "t1", start, end })),
});

test("marks stand behind the places that rest on sources", () => {
  const sources = [source("1", [0, 2], [4, 6]), source("2", [1, 2])];
  // Directly behind a single letter it would be an index.
  expect(withMarks("Né, 🚀é.", "t1", sources)).toBe("Né[1][2], 🚀é [1].");
  expect(withMarks("Né, 🚀é.", "t2", sources)).toBe("Né, 🚀é.");
});

test("a link or a mark of the text is one already", () => {
  const link = "So ([a.org](https://a.org/)).";
  expect(withMarks(link, "t1", [source("1", [3, 28])])).toBe(link);
  expect(withMarks("So [2].", "t1", [source("1", [0, 6])])).toBe("So [2].");
});

test("code is left alone", () => {
  const text = "A\n```sh\nls\n```\nand `ls -l` too";
  expect(withMarks(text, "t1", [source("1", [2, 9]), source("2", [18, 22])])).toBe(
    "A\n```sh\nls\n```[1]\nand `ls -l`[2] too",
  );
});

test("absurd places and numbers change nothing", () => {
  const absurd = [source("1", [5, 3], [0, 1e15], [2, 2]), source("page_1", [0, 2]), source("12345", [0, 2])];
  expect(withMarks("So it is", "t1", absurd)).toBe("So it is");
  const many = Array.from({ length: 3000 }, (_, at) => source(`${at + 1}`, [0, 2]));
  expect(withMarks("So it is", "t1", many)).toBe("So[1][2][3][4][5][6] it is");
});
