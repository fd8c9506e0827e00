/** Validation of weights. */
import { expect, test } from "vitest";
import { isWeight } from "./weights.ts";

test("a weight is a whole number within its bounds", () => {
  for (const good of ["1", " 7 ", "1000"]) expect(isWeight(good, 1)).toBe(true);
  for (const bad of ["", "0", "-1", "1.5", "1001", "1e2", "many"]) expect(isWeight(bad, 1)).toBe(false);
  expect(isWeight("0", 0)).toBe(true);
});
