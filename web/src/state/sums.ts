/** Totals over events: tokens and cost of model calls, changed lines. */
import type { LineCounts, RunNode } from "./nodes.ts";
import type { BodyOf } from "./timeline.ts";

/** Usage of the run including one more model call. */
export function spent(run: RunNode, call: BodyOf<"model_called" | "context_compacted">): Partial<RunNode> {
  const { usage, cost_micro_usd: cost } = call;
  const cached = (run.usage.cached_tokens ?? 0) + (usage.cached_tokens ?? 0);
  return {
    usage: {
      input_tokens: run.usage.input_tokens + usage.input_tokens,
      output_tokens: run.usage.output_tokens + usage.output_tokens,
      ...(cached > 0 && { cached_tokens: cached }),
      ...((run.usage.estimated || usage.estimated) && { estimated: true }),
    },
    costMicroUsd: cost === undefined ? run.costMicroUsd : (run.costMicroUsd ?? 0) + cost,
  };
}

/** Added and removed lines; `null` if unknown. */
export const linesOf = (body: BodyOf<"file_changed" | "memory_update_completed">): LineCounts | null =>
  body.added_lines === undefined || body.removed_lines === undefined
    ? null
    : { added: body.added_lines, removed: body.removed_lines };

export const sum = (one: LineCounts, other: LineCounts): LineCounts => ({
  added: one.added + other.added,
  removed: one.removed + other.removed,
});
