/** Replay times of a finished run's events, and the stops in between. */
import type { EventBody, RunEvent } from "../../api/events.ts";

/** Longer pauses of the run are shortened to this in the replay. */
export const maxPauseMs = 2000;

export interface Moments {
  /** Milliseconds from the start of the replay at speed 1, for each event. */
  shownAt: number[];
  /** How much the pause before each event was shortened; 0 for most. */
  skippedMs: number[];
  /** Number of events shown at each stop, ascending: after an item, never within one. */
  stops: number[];
  totalMs: number;
}

const isDelta = (body: EventBody) => body.type.endsWith("_delta") || body.type === "tool_output";

/** Events after which there is something new to look at. */
const stopsAfter = new Set<EventBody["type"]>([
  "run_started",
  "text_finished",
  "reasoning_finished",
  "tool_started",
  "tool_finished",
  "tool_handed_over",
  "approval_asked",
  "approval_answered",
  "question_asked",
  "question_answered",
  "plan_changed",
  "file_changed",
  "agent_started",
  "agent_finished",
  "notice",
  "run_resumed",
  "run_forked",
  "run_finished",
]);

export function momentsOf(log: readonly RunEvent[]): Moments {
  const moments: Moments = { shownAt: [], skippedMs: [], stops: [], totalMs: 0 };
  let before = log[0]?.at ?? 0;
  for (const [index, event] of log.entries()) {
    // The server's clock may have been set back.
    const pauseMs = Math.max(0, event.at - before);
    before = event.at;
    moments.totalMs += Math.min(pauseMs, maxPauseMs);
    moments.shownAt.push(moments.totalMs);
    moments.skippedMs.push(Math.max(0, pauseMs - maxPauseMs));
    if (stopsAfter.has(event.body.type)) moments.stops.push(index + 1);
  }
  if (log.length > 0 && moments.stops.at(-1) !== log.length) moments.stops.push(log.length);
  return moments;
}

/** Number of events shown at `ms`. */
export function countAt({ shownAt }: Moments, ms: number): number {
  let [low, high] = [0, shownAt.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shownAt[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Largest number of the first `count` events that leaves no text half typed: for users who prefer reduced motion. */
export function wholeCount(log: readonly RunEvent[], count: number): number {
  for (let whole = count; whole > 0; whole -= 1) {
    const last = log[whole - 1];
    if (last && !isDelta(last.body)) return whole;
  }
  return 0;
}
