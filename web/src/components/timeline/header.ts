/** Text of the steps' header, for active and finished runs. */
import type { RunSummary } from "../../api/types.ts";
import type { Outcome } from "../../api/events.ts";
import { durationOf } from "../../state/chat.svelte.ts";
import type { RunNode, ToolState } from "../../state/nodes.ts";

export interface StepsHeader {
  state: ToolState | "limited";
  tools: number;
  failed: number;
  agents: number;
  agentsRunning: number;
  durationMs: number | null;
}

const stateOf: Record<Outcome, StepsHeader["state"]> = {
  completed: "done",
  cancelled: "stopped",
  failed: "failed",
  limited: "limited",
  handed_over: "done",
};

export function stateOfOutcome(outcome: Outcome | null): StepsHeader["state"] {
  return outcome === null ? "running" : stateOf[outcome];
}

export function headerOfRun(run: RunNode): StepsHeader {
  return {
    state: run.outcome === null && run.waiting.length > 0 ? "waiting" : stateOfOutcome(run.outcome),
    tools: run.tools,
    failed: run.failed,
    agents: run.agents,
    agentsRunning: run.agentsRunning,
    durationMs: run.outcome === null ? null : durationOf(run),
  };
}

export function headerOfSummary(summary: RunSummary): StepsHeader {
  return {
    state: stateOfOutcome(summary.outcome),
    tools: summary.tools,
    failed: summary.failed_tools,
    agents: summary.agents,
    agentsRunning: 0,
    durationMs: summary.duration_ms,
  };
}
