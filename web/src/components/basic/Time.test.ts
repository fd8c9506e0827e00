/** Times of messages. */
import { render } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { tick } from "svelte";
import { loadLanguage } from "../../i18n/index.svelte.ts";
import { prefer } from "../../state/preferences.svelte.ts";
import Time from "./Time.svelte";

const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 5).getTime();

beforeEach(async () => {
  vi.useFakeTimers({ now: at(26, 23) });
  prefer({ language: "en" });
  await loadLanguage();
});
afterEach(() => vi.useRealTimers());

function show(moment: number) {
  const { container } = render(Time, { props: { at: moment } });
  const time = container.querySelector("time");
  if (!time) throw new Error("no time");
  return time;
}

test("a moment today has its time, and the whole date as its title", () => {
  const time = show(at(26, 9));
  expect(time).toHaveTextContent(/^9:05\sAM$/);
  expect(time.dateTime).toBe(new Date(at(26, 9)).toISOString());
  expect(time.title).toMatch(/^Thursday, November 26, 2026 at 9:05\sAM$/);
});

test("a moment of another day has its date too", () => {
  expect(show(at(25, 9))).toHaveTextContent(/^Nov 25, 2026, 9:05\sAM$/);
});

test("at midnight, a time gets its date", async () => {
  const time = show(at(26, 9));
  await vi.advanceTimersByTimeAsync(3_600_000);
  await tick();
  expect(time).toHaveTextContent(/^Nov 26, 2026, 9:05\sAM$/);
});

test("it is in the language of the page", async () => {
  prefer({ language: "ru" });
  await loadLanguage();
  expect(show(at(26, 9))).toHaveTextContent("09:05");
  expect(show(at(25, 9))).toHaveTextContent("25 нояб. 2026 г., 09:05");
  prefer({ language: "en" });
  await loadLanguage();
});
