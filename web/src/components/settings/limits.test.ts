/** Parsing and formatting of limits. */
import { expect, test } from "vitest";
import { isBad, isNone, parse, parsed, typed } from "./limits.ts";

test("what is typed is read and written back", () => {
  const fields = typed();
  expect(isNone(parsed(fields))).toBe(true);
  fields.day.tokens = " 1 000 000 ";
  fields.month.usd = "2,50";
  const limits = parsed(fields);
  expect([limits.day.tokens, limits.month.usd, limits.minute.requests]).toEqual([1_000_000, 2.5, null]);
  expect(typed(limits).month.usd).toBe("2.5");
  expect(isNone(limits)).toBe(false);
});

test("what is not a number is told apart from nothing", () => {
  expect([isBad("tokens", ""), isBad("tokens", "0")]).toEqual([false, false]);
  for (const text of ["-1", "x", "1.5", "1e400"]) expect(isBad("tokens", text)).toBe(true);
  expect(parse("usd", "1.5")).toBe(1.5);
});
