/** Summaries of older steps in the timeline. */
import { expect, test } from "vitest";
import type { EventBody } from "../api/events.ts";
import { createTimeline, nodeOf, reduce, runOf } from "./timeline.ts";

const usage = { input_tokens: 10, output_tokens: 5 };

test("a summary of older steps stands among the steps, and its tokens count", () => {
  const timeline = createTimeline();
  const bodies: EventBody[] = [
    { type: "run_started", model: "m" },
    { type: "step_started", step: 1 },
    {
      type: "context_compacted",
      summary: "Two files were read.",
      messages: 8,
      kept_messages: 3,
      kept_requests: 1,
      tokens_before: 48_000,
      tokens_after: 6_000,
      model: "m",
      usage,
      cost_micro_usd: 20,
      duration_ms: 5,
    },
    { type: "model_called", model: "m", usage, cost_micro_usd: 3, duration_ms: 1 },
  ];
  for (const [index, body] of bodies.entries()) {
    reduce(timeline, { run: "run_1", seq: index + 1, at: 1000 + index, body });
  }
  const run = runOf(timeline);
  expect(run.usage).toEqual({ input_tokens: 20, output_tokens: 10 });
  expect(run.costMicroUsd).toBe(23);
  const [step] = run.children;
  expect(nodeOf(timeline.nodes, step ?? null, "compaction")).toMatchObject({
    summary: "Two files were read.",
    tokensBefore: 48_000,
    tokensAfter: 6_000,
  });
});
