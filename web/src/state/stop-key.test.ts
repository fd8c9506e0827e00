// A single key press never stops a run.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { SECOND_PRESS_MS, stopKey } from "./stop-key.svelte.ts";

const chat = vi.hoisted(() => ({
  active: null as { id: string } | null,
  stop: vi.fn(() => Promise.resolve()),
}));
vi.mock("./chat.svelte.ts", () => ({ openChat: chat }));

beforeEach(() => {
  vi.useFakeTimers();
  chat.active = { id: "run_1" };
});
afterEach(() => {
  stopKey.reset();
  chat.stop.mockClear();
  vi.useRealTimers();
});

test("the first press only asks", () => {
  stopKey.press();
  expect(stopKey.run).toBe("run_1");
  expect(chat.stop).not.toHaveBeenCalled();
});

test("a second press in time stops it", () => {
  stopKey.press();
  vi.advanceTimersByTime(SECOND_PRESS_MS - 1);
  stopKey.press();
  expect(chat.stop).toHaveBeenCalledOnce();
  expect(stopKey.run).toBeNull();
});

test("a second press that comes late is a first one", () => {
  stopKey.press();
  vi.advanceTimersByTime(SECOND_PRESS_MS);
  expect(stopKey.run).toBeNull();
  stopKey.press();
  expect(chat.stop).not.toHaveBeenCalled();
});

test("a press that was meant for another run stops nothing", () => {
  stopKey.press();
  chat.active = { id: "run_2" };
  stopKey.press();
  expect(chat.stop).not.toHaveBeenCalled();
  expect(stopKey.run).toBe("run_2");
});
