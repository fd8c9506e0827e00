/** Total cost of several runs. */
import type { RunSummary } from "../api/types.ts";
import type { RunNode } from "./nodes.ts";

type Costs = ReturnType<typeof costsOf>;

/** Tokens of finished runs, and their price if that of any is known. */
export function costsOf(summaries: (RunSummary | null | undefined)[]): {
  tokens: number;
  costMicroUsd: number | null;
} {
  let tokens = 0;
  let costMicroUsd: number | null = null;
  for (const summary of summaries) {
    if (!summary) continue;
    tokens += summary.usage.input_tokens + summary.usage.output_tokens;
    if (summary.cost_micro_usd !== null) costMicroUsd = (costMicroUsd ?? 0) + summary.cost_micro_usd;
  }
  return { tokens, costMicroUsd };
}

/** The same including active runs so far. */
export function withRunning(costs: Costs, runs: Pick<RunNode, "usage" | "costMicroUsd">[]): Costs {
  let { tokens, costMicroUsd } = costs;
  for (const run of runs) {
    tokens += run.usage.input_tokens + run.usage.output_tokens;
    if (run.costMicroUsd !== null) costMicroUsd = (costMicroUsd ?? 0) + run.costMicroUsd;
  }
  return { tokens, costMicroUsd };
}
