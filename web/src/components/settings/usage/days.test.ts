/** Days and values of the usage chart. */
import { expect, test } from "vitest";
import { dayBefore, everyDay, figureOf, roundedUp } from "./days.ts";

const row = (name: string, input_tokens: number) => ({
  name,
  requests: 1,
  input_tokens,
  output_tokens: 1,
  cost_micro_usd: 9,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  unpriced_requests: 0,
  estimated_requests: 0,
});

test("days without usage are there, over the end of a month", () => {
  const days = everyDay("2026-10-30", "2026-11-02", [row("2026-11-01", 4)], "tokens");
  expect(days).toEqual([
    { day: "2026-10-30", value: 0 },
    { day: "2026-10-31", value: 0 },
    { day: "2026-11-01", value: 5 },
    { day: "2026-11-02", value: 0 },
  ]);
  expect(dayBefore(Date.parse("2026-11-01T10:00:00Z"), 1)).toBe("2026-10-31");
});

test("a figure is one of three", () => {
  expect([figureOf(row("x", 4), "tokens"), figureOf(row("x", 4), "cost")]).toEqual([5, 9]);
  expect(figureOf(row("x", 4), "requests")).toBe(1);
  const unpriced = { ...row("2026-11-01", 4), cost_micro_usd: null };
  expect(figureOf(unpriced, "cost")).toBeNull();
  expect(everyDay("2026-11-01", "2026-11-02", [unpriced], "cost")).toEqual([
    { day: "2026-11-01", value: null },
    { day: "2026-11-02", value: 0 },
  ]);
});

test("an axis ends at a round number", () => {
  expect([0, 1, 2, 3, 7, 10, 11, 4200].map(roundedUp)).toEqual([1, 1, 2, 5, 10, 10, 20, 5000]);
});
