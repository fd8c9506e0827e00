/** Replay of a finished run: its timing, going back, and the controls. */
import { describe, expect, test, vi } from "vitest";
import type { EventBody, RunEvent } from "../../api/events.ts";
import { createTimeline, nodeOf, reduce } from "../timeline.ts";
import { countAt, momentsOf, wholeCount } from "./moments.ts";
import { Replay } from "./replay.svelte.ts";
import { ReplayView } from "./view.svelte.ts";

function logOf(bodies: [number, EventBody][]): RunEvent[] {
  return bodies.map(([at, body], index) => ({ run: "run_1", seq: index + 1, at, body }));
}

const asked: EventBody = { type: "approval_asked", approval: "p1", call: "c1", name: "shell", arguments: {} };
const typed = logOf([
  [1000, { type: "run_started", model: "m" }],
  [1100, { type: "step_started", step: 1 }],
  [1200, { type: "tool_requested", call: "c1", name: "shell" }],
  [1300, asked],
  [601_300, { type: "approval_answered", approval: "p1", decision: "allow", edited: false }],
  [601_400, { type: "text_started", item: "t1" }],
  [601_500, { type: "text_delta", item: "t1", delta: "Hel" }],
  [601_600, { type: "text_delta", item: "t1", delta: "lo" }],
  [601_700, { type: "text_finished", item: "t1", text: "Hello", answer: true }],
]);

/** A long run: `count` events, most of them deltas, the rest tool calls. */
function longLog(count: number): RunEvent[] {
  const bodies: [number, EventBody][] = [[0, { type: "run_started", model: "m" }]];
  for (let call = 0; bodies.length < count; call += 1) {
    const at = bodies.length * 20;
    bodies.push([at, { type: "text_started", item: `t${call}` }]);
    for (let n = 0; n < 12; n += 1)
      bodies.push([at, { type: "text_delta", item: `t${call}`, delta: "some words " }]);
    bodies.push([
      at,
      { type: "text_finished", item: `t${call}`, text: "some words ".repeat(12), answer: false },
    ]);
    bodies.push([at, { type: "tool_requested", call: `c${call}`, name: "ls" }]);
    const run = { call: `c${call}`, name: "ls", arguments: {} };
    bodies.push([at, { type: "tool_started", ...run, repeatable: true }]);
    const end = { result: "a", error: false, truncated: false, duration_ms: 1 };
    bodies.push([at, { type: "tool_finished", ...run, ...end }]);
  }
  return logOf(bodies.slice(0, count));
}

describe("the moments of a replay", () => {
  test("a long pause is shortened, and known", () => {
    const moments = momentsOf(typed);
    expect(moments.shownAt).toEqual([0, 100, 200, 300, 2300, 2400, 2500, 2600, 2700]);
    expect(moments.skippedMs[4]).toBe(598_000);
    expect(moments.totalMs).toBe(2700);
    expect(moments.stops).toEqual([1, 4, 5, 9]);
  });

  test("a time has its events", () => {
    const moments = momentsOf(typed);
    for (const [ms, count] of [
      [-1, 0],
      [0, 1],
      [299, 3],
      [300, 4],
      [2299, 4],
      [9999, 9],
    ] as const) {
      expect(countAt(moments, ms)).toBe(count);
    }
  });

  test("no text is left half typed for those who want no motion", () => {
    expect(wholeCount(typed, 8)).toBe(6);
    expect(wholeCount(typed, 9)).toBe(9);
    expect(wholeCount(typed, 5)).toBe(5);
  });
});

describe("a replayed view", () => {
  test("is what the events so far make, in whichever order one looks", () => {
    const log = longLog(400);
    const view = new ReplayView("run_1", log);
    for (const count of [10, 399, 3, 200, 199, 400, 0]) {
      view.show(count);
      const plain = createTimeline();
      for (const event of log.slice(0, count)) reduce(plain, event);
      expect(new Map(view.nodes)).toEqual(plain.nodes);
    }
  });

  test("goes back in 20,000 events at once", () => {
    const log = longLog(20_000);
    const view = new ReplayView("run_1", log);
    view.show(20_000);
    const began = performance.now();
    for (let count = 19_999; count > 0; count -= 2000) view.show(count);
    const eachMs = (performance.now() - began) / 10;

    // Measured at 16 ms.
    expect(eachMs).toBeLessThan(250);
  });
});

describe("a replay", () => {
  test("plays to its end and stops; steps and seeks", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    try {
      const replay = new Replay("msg_1", "run_1", typed);
      expect(replay.playing).toBe(true);
      vi.advanceTimersByTime(1300);
      expect(replay.count).toBe(4);
      expect(replay.view.run.waiting).toEqual(["approval p1"]);
      expect(replay.skippedMs).toBe(598_000);
      replay.speed = 20;
      vi.advanceTimersByTime(500);
      expect(replay.atEnd).toBe(true);
      expect(replay.playing).toBe(false);
      expect(nodeOf(replay.view.nodes, "text t1", "text")?.text).toBe("Hello");
      replay.step(-1);
      expect(replay.count).toBe(5);
      replay.step(1);
      expect(replay.count).toBe(9);
      replay.seek(7);
      expect(nodeOf(replay.view.nodes, "text t1", "text")?.text).toBe("Hel");
      expect(replay.view.now()).toBe(601_500);
    } finally {
      vi.useRealTimers();
    }
  });
});
