/** Total cost of several runs. */
import { expect, test } from "vitest";
import type { RunSummary } from "../api/types.ts";
import { costsOf, withRunning } from "./costs.ts";

const ended = (input: number, output: number, cost: number | null) =>
  ({ usage: { input_tokens: input, output_tokens: output }, cost_micro_usd: cost }) as RunSummary;

test("tokens are added up, and the prices that are known", () => {
  expect(costsOf([])).toEqual({ tokens: 0, costMicroUsd: null });
  expect(costsOf([ended(1, 2, null), null, undefined])).toEqual({ tokens: 3, costMicroUsd: null });
  expect(costsOf([ended(1, 2, null), ended(10, 20, 5)])).toEqual({ tokens: 33, costMicroUsd: 5 });
});

test("what goes on counts as far as it has come", () => {
  const running = { usage: { input_tokens: 7, output_tokens: 0 }, costMicroUsd: null };
  const paid = { ...running, costMicroUsd: 2 };
  const before = costsOf([ended(1, 2, null)]);
  expect(withRunning(before, [])).toEqual(before);
  expect(withRunning(before, [running, paid])).toEqual({ tokens: 17, costMicroUsd: 2 });
});
