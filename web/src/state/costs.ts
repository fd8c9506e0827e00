/** What several runs have cost together. */
import type { RunSummary } from "../api/types.ts";
import type { RunNode } from "./nodes.ts";

type Costs = ReturnType<typeof costsOf>;

/** The tokens, and the price where that of any is known, of those that have ended. */
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

/** The same with runs that still go on, as far as they have come. */
export function withRunning(costs: Costs, runs: Pick<RunNode, "usage" | "costMicroUsd">[]): Costs {
  let { tokens, costMicroUsd } = costs;
  for (const run of runs) {
    tokens += run.usage.input_tokens + run.usage.output_tokens;
    if (run.costMicroUsd !== null) costMicroUsd = (costMicroUsd ?? 0) + run.costMicroUsd;
  }
  return { tokens, costMicroUsd };
}
