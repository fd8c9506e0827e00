/** Tags and metadata as people write them. */
import { expect, test } from "vitest";
import {
  hasTags,
  metadataFilter,
  readValue,
  tagCounts,
  tagsOf,
  writtenValue,
  shownValue,
} from "./metadata.ts";

test("tags are separated by commas", () => {
  expect(tagsOf(" #HR, to   do;x,, HR")).toEqual(["HR", "to do", "x"]);
  expect(tagsOf("")).toEqual([]);
});

test("tags are the same regardless of case and accents", () => {
  expect(hasTags(["Entwürfe", "HR"], ["entwurfe", "hr"])).toBe(true);
  expect(hasTags(["HR"], ["hr", "legal"])).toBe(false);
  expect(hasTags([], [])).toBe(true);
  const documents = [{ tags: ["HR", "b"] }, { tags: ["hr", "a"] }];
  expect(tagCounts(documents)).toEqual([
    { tag: "HR", count: 2 },
    { tag: "a", count: 1 },
    { tag: "b", count: 1 },
  ]);
});

test("values keep their type", () => {
  for (const [text, value] of [
    ["Ada", "Ada"],
    ["3.5", 3.5],
    ["-2", -2],
    ["007", "007"],
    ["1e5", "1e5"],
    ["true", true],
    ["2026-05-31", "2026-05-31"],
    ["Ada; 2 ;", ["Ada", 2]],
    [" ; ", null],
    ["Infinity", "Infinity"],
  ] as const)
    expect(readValue(text), text).toEqual(value);
  expect(writtenValue(["Ada", 2])).toBe("Ada; 2");
  expect(writtenValue(false)).toBe("false");
});

test("a filter is a part of a text or a range", () => {
  const wanted = { key: "year", value: null, first: null, last: null };
  expect(metadataFilter(wanted)).toBe(null);
  expect(metadataFilter({ ...wanted, key: "", value: "x" })).toBe(null);
  expect(metadataFilter({ ...wanted, value: " 20 " })).toEqual({ year: { contains: "20" } });
  expect(metadataFilter({ ...wanted, value: "true" })).toEqual({ year: true });
  expect(metadataFilter({ ...wanted, first: "2020", last: "" })).toEqual({ year: { from: "2020" } });
  expect(metadataFilter({ ...wanted, first: "2020", last: "2021" })).toEqual({
    year: { from: "2020", to: "2021" },
  });
});

test("dates are shown in the language of the page, other values as they are", () => {
  expect(shownValue("2026-11-03")).toBe("Nov 3, 2026");
  expect(shownValue("2026-11-03T10:20:00Z")).toContain("Nov");
  expect(shownValue(["2026-13-45", 7, true])).toBe("2026-13-45; 7; true");
});
