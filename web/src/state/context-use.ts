/** How much of the model's context window a chat uses. */
import type { ChatMessage, Model, RunSummary } from "../api/types.ts";

/** A smaller share is not shown. */
export const MIN_SHARE = 0.25;

export interface ContextUse {
  tokens: number;
  window: number;
  /** From 0 to 1. */
  share: number;
}

/** `null` if the window or the use is unknown, or the use is too small to matter. */
export function contextUse(tokens: number | null, window: number | null): ContextUse | null {
  if (tokens === null || window === null || window <= 0 || tokens < window * MIN_SHARE) return null;
  return { tokens, window, share: Math.min(1, tokens / window) };
}

export const windowOf = (model: Model | undefined): number | null =>
  model?.context_tokens ?? model?.listed.context_tokens ?? null;

const totalOf = ({ usage }: RunSummary): number => usage.input_tokens + usage.output_tokens;

/** Tokens of the last model call if it was the only one; the sum of several counts the conversation repeatedly. */
const ofOneCall = (summary: RunSummary): number | null =>
  summary.tools + summary.agents + (summary.compactions ?? 0) + (summary.inputs ?? 0) > 0
    ? null
    : totalOf(summary);

/** Size of the conversation after the last answer; `measured` gives that of a run whose log is loaded. */
export function tokensOf(
  path: readonly ChatMessage[],
  measured: (run: string) => number | null,
): number | null {
  for (const { run, summary } of path.toReversed()) {
    if (!run) continue;
    const tokens = measured(run) ?? (summary ? ofOneCall(summary) : null);
    // A run that has just begun continues from the answer before.
    if (tokens !== null || summary) return tokens;
  }
  return null;
}

/** The run whose log has to be loaded to know; only if its total may matter. */
export function runToMeasure(path: readonly ChatMessage[], window: number | null): string | null {
  const last = path.findLast(({ run }) => run);
  if (!last?.run || !last.summary || ofOneCall(last.summary) !== null) return null;
  return contextUse(totalOf(last.summary), window) ? last.run : null;
}
