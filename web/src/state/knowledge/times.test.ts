/** Times in recordings. */
import { expect, test } from "vitest";
import { timeOf } from "./times.ts";

test.each([
  [0, "0:00"],
  [65.9, "1:05"],
  [725, "12:05"],
  [3725, "1:02:05"],
])("%s seconds are %s", (seconds, expected) => {
  expect(timeOf(seconds)).toBe(expected);
});
