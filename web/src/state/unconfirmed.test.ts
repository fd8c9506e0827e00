/** Marks are told by their place in the text of the log. */
import { expect, test } from "vitest";
import type { CitedPlace, Source } from "../api/events.ts";
import { unconfirmedMarks } from "./unconfirmed.ts";

const source = (id: string, ...cited: CitedPlace[]): Source => ({
  id,
  title: "T",
  url: "https://a.org/",
  cited,
});

test("places count characters, and belong to their text", () => {
  const text = "🚀 so [1] and so [2] and a[1] = so [1].";
  const sources = [
    source("1"),
    source("2", { item: "t2", start: 17, end: 20 }),
    source("1", { item: "t1", start: 35, end: 38, unconfirmed: "number" }),
    source("2", { item: "t2", start: 16, end: 19, unconfirmed: "name" }),
  ];
  expect([...text].indexOf("[", 32)).toBe(34);
  const marks = unconfirmedMarks([{ item: "t1", text }], sources);
  expect([...marks]).toEqual([]);
  const right = [source("1", { item: "t1", start: 34, end: 37, unconfirmed: "number" })];
  expect([...unconfirmedMarks([{ item: "t1", text }], right)]).toEqual([["1", [undefined, "number"]]]);
  const two = [
    { item: "t1", text: "so [2]." },
    { item: "t2", text: "so [2]" },
  ];
  const both = [
    source("2", { item: "t2", start: 3, end: 6, unconfirmed: "negation" }),
    source("2", { item: "t9", start: 3, end: 6, unconfirmed: "name" }),
  ];
  expect([...unconfirmedMarks(two, both)]).toEqual([["2", [undefined, "negation"]]]);
});
