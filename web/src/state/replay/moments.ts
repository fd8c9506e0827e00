/** When each event of a finished run is shown in a replay, and where it can stop on its way. */
import type { EventBody, RunEvent } from "../../api/events.ts";

/** A longer pause of the run takes no more of the replay than this. */
export const maxPauseMs = 2000;

export interface Moments {
  /** Milliseconds from the beginning of the replay at speed 1, for each event. */
  shownAt: number[];
  /** How much of the run's time each event's pause was shortened by; 0 for most. */
  skippedMs: number[];
  /** How many events are shown at each stop, from few to all: after an item, not within one. */
  stops: number[];
  totalMs: number;
}

const isDelta = (body: EventBody) => body.type.endsWith("_delta") || body.type === "tool_output";

/** Events that end something to look at; what comes before them is on the way there. */
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

/** How many events are shown at `ms`. */
export function countAt({ shownAt }: Moments, ms: number): number {
  let [low, high] = [0, shownAt.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shownAt[middle] ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** As many of the first `count` events as leave no text half typed: for readers who want no motion. */
export function wholeCount(log: readonly RunEvent[], count: number): number {
  for (let whole = count; whole > 0; whole -= 1) {
    const last = log[whole - 1];
    if (last && !isDelta(last.body)) return whole;
  }
  return 0;
}
