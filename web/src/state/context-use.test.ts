/** How full the model's context window is. */
import { expect, test } from "vitest";
import type { ChatMessage } from "../api/types.ts";
import { contextUse, runToMeasure, tokensOf } from "./context-use.ts";

const answer = (run: string, tokens: number | null, tools = 0) =>
  ({
    run,
    summary: tokens !== null && { tools, agents: 0, usage: { input_tokens: tokens - 10, output_tokens: 10 } },
  }) as ChatMessage;
const question = { run: null, content: [] } as unknown as ChatMessage;
const unknown = () => null;

test("is shown from a quarter on, if the window is known", () => {
  expect(contextUse(24, 100)).toBeNull();
  expect(contextUse(25, 100)).toEqual({ tokens: 25, window: 100, share: 0.25 });
  expect(contextUse(150, 100)?.share).toBe(1);
  for (const window of [null, 0, -1]) expect(contextUse(1000, window)).toBeNull();
  expect(contextUse(null, 100)).toBeNull();
});

test("is that of the last answer, if it took one model call", () => {
  expect(tokensOf([], unknown)).toBeNull();
  expect(tokensOf([question, answer("a", 500), question, answer("b", 700), question], unknown)).toBe(700);
});

test("is not the sum of several calls, but the last one of the log", () => {
  const path = [question, answer("a", 500), question, answer("b", 9000, 4)];
  expect(tokensOf(path, unknown)).toBeNull();
  expect(tokensOf(path, (run) => (run === "b" ? 1500 : null))).toBe(1500);
  expect(runToMeasure(path, 10_000)).toBe("b");
  // Not even the sum fills a quarter of it.
  expect(runToMeasure(path, 100_000)).toBeNull();
  expect(runToMeasure(path.slice(0, 2), 10_000)).toBeNull();
});

test("while a run begins it is that of the answer before", () => {
  const path = [question, answer("a", 500), question, answer("b", null)];
  expect(tokensOf(path, unknown)).toBe(500);
  expect(tokensOf(path, (run) => (run === "b" ? 800 : null))).toBe(800);
});
