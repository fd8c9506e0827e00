/** Conversion between schedules and form values. */
import { expect, test } from "vitest";
import { contentOf, timesOf } from "./times.ts";

const now = new Date(2026, 10, 22, 9, 30).getTime();

test("the usual times come back as the same choices", () => {
  const cases = [
    ["5 8 * * *", "daily"],
    ["0 8 * * 1-5", "weekdays"],
    ["30 17 * * 0", "weekly"],
    ["0 * * * *", "hours"],
    ["0 */6 * * *", "hours"],
    ["0 8 1 * *", "cron"],
    ["0 */5 * * *", "cron"],
  ] as const;
  for (const [cron, repeat] of cases) {
    const times = timesOf({ cron, once_at: null }, now);
    expect(times.repeat, cron).toBe(repeat);
    expect(contentOf(times)).toEqual({ cron, once_at: null });
  }
});

test("once is a moment on this clock", () => {
  const once_at = new Date(2026, 11, 24, 18, 5).getTime();
  const times = timesOf({ cron: null, once_at }, now);
  expect(times.once).toBe("2026-12-24T18:05");
  expect(contentOf(times)).toEqual({ cron: null, once_at });
});
