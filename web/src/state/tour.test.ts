/** When the tour has served its purpose. */
import { expect, test } from "vitest";
import type { ChatMessage, Model } from "../api/types.ts";
import { Models } from "./models.svelte.ts";
import { hasRealAnswer } from "./tour.ts";

test("only a completed answer of a model other than the tour counts", () => {
  const models = new Models();
  models.list = [
    { id: "tour", name: "Tour", tour: true },
    { id: "m1", name: "One" },
  ] as Model[];
  const answer = (model: string | undefined, outcome: string) =>
    ({ role: "assistant", model, summary: { outcome } }) as ChatMessage;
  expect(hasRealAnswer([answer("m1", "completed")], models)).toBe(false);
  models.loaded = true;
  expect(hasRealAnswer([], models)).toBe(false);
  expect(hasRealAnswer([answer("tour", "completed")], models)).toBe(false);
  expect(hasRealAnswer([answer("m1", "failed")], models)).toBe(false);
  expect(hasRealAnswer([answer("tour", "completed"), answer("m1", "completed")], models)).toBe(true);
});
