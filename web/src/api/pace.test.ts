/** The update rate on a fast page, a slow page and a hidden page. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pace } from "./pace.ts";

let frame: FrameRequestCallback | undefined;

/** Fake `performance`, so that only the simulated page work takes time. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => (frame = callback));
  vi.stubGlobal("MessageChannel", InstantChannel);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  frame = undefined;
});

/** Delivers synchronously, so that a test's `paintMs` passes in between. */
class InstantChannel {
  port1 = { onmessage: () => {}, close() {} };
  port2 = {
    postMessage: () => {
      vi.advanceTimersByTime(paintMs);
      this.port1.onmessage();
    },
  };
}
let paintMs = 0;

/** One update: script first, then a frame that paints. */
async function show(pace: Pace, scriptMs: number, framePaintMs: number): Promise<void> {
  pace.show(() => vi.advanceTimersByTime(scriptMs));
  await Promise.resolve();
  paintMs = framePaintMs;
  frame?.(performance.now());
  frame = undefined;
}

test("the first news is shown at once, the next at most 12 times a second", async () => {
  const pace = new Pace();
  expect(pace.waitMs()).toBe(0);
  await show(pace, 0, 0);
  expect(pace.waitMs()).toBe(80);
  vi.advanceTimersByTime(80);
  expect(pace.waitMs()).toBe(0);
});

test("a page that takes 8 ms for each showing shows every 192 ms", async () => {
  const pace = new Pace();
  for (let n = 0; n < 40; n += 1) {
    await show(pace, 3, 5);
    vi.advanceTimersByTime(pace.waitMs());
  }
  await show(pace, 3, 5);
  expect(pace.waitMs()).toBeCloseTo(192 - 8, 0);
});

test("one slow showing does not stop the page", async () => {
  const pace = new Pace();
  await show(pace, 4000, 1000);
  vi.advanceTimersByTime(300);
  expect(pace.waitMs()).toBe(0);
});

test("out of sight nothing is painted, and news goes on", async () => {
  const pace = new Pace();
  pace.show(() => {});
  await Promise.resolve();
  vi.advanceTimersByTime(80);
  expect(pace.waitMs()).toBe(0);
});
