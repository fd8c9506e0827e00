/** Search filters from the URL. */
import { expect, test } from "vitest";
import { kinds, narrowed } from "./filters.ts";

const noMetadata = { tags: null, key: null, value: null, first: null, last: null };
const nothing = { kind: null, name: null, since: null, until: null, ...noMetadata };

test("a kind is endings of names, and a day a moment", () => {
  const wanted = { kind: "word", name: " Plan ", since: "2026-01-31", until: "2026-01-31", ...noMetadata };
  const since = new Date(2026, 0, 31).getTime();
  const until = new Date(2026, 1, 1).getTime() - 1;
  expect(narrowed(wanted)).toEqual({
    types: ["docx", "docm", "doc", "odt", "rtf"],
    name: "Plan",
    since,
    until,
  });
  for (const kind of kinds) expect(narrowed({ ...nothing, kind }).types).not.toEqual([]);
});

test("what an address has and nobody knows narrows nothing", () => {
  for (const [kind, day] of [
    [null, null],
    ["", ""],
    ["toString", "yesterday"],
    ["PDF", "2026-13-99"],
    ["x", "2026-01-01T00:00"],
  ] as const)
    expect(narrowed({ kind, name: day && " ", since: day, until: day, ...noMetadata })).toEqual({});
});

test("tags and metadata are filters", () => {
  expect(narrowed({ ...nothing, tags: "hr, legal,", key: "author", value: " Ada " })).toEqual({
    tags: ["hr", "legal"],
    metadata: { author: { contains: "Ada" } },
  });
});
