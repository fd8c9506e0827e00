/** A search is narrowed by what the address says. */
import { expect, test } from "vitest";
import { kinds, narrowed } from "./filters.ts";

test("a kind is endings of names, and a day a moment", () => {
  const since = new Date(2026, 0, 31).getTime();
  expect(narrowed({ kind: "word", since: "2026-01-31" })).toEqual({ types: ["docx", "docm"], since });
  for (const kind of kinds) expect(narrowed({ kind, since: null }).types).not.toEqual([]);
});

test("what an address has and nobody knows narrows nothing", () => {
  for (const [kind, since] of [
    [null, null],
    ["", ""],
    ["toString", "yesterday"],
    ["PDF", "2026-13-99"],
    ["x", "2026-01-01T00:00"],
  ])
    expect(narrowed({ kind: kind ?? null, since: since ?? null })).toEqual({});
});
