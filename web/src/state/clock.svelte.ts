/** The server's current time, ticking once a second while it is displayed; and the current day. */
import { createSubscriber } from "svelte/reactivity";
import { dayOf, endOfDay } from "../i18n/format.ts";

/** How far the local clock is ahead of the server's; the smallest observed difference is the most accurate. */
let aheadMs = Number.POSITIVE_INFINITY;

/** Updates the offset from the timestamp of an event that has just arrived. */
export function noteServerTime(at: number): void {
  aheadMs = Math.min(aheadMs, Date.now() - at);
}

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

/** Milliseconds since 1970 by the server's clock; an effect that reads it reruns every second. */
export function serverNow(): number {
  subscribe();
  return Date.now() - (Number.isFinite(aheadMs) ? aheadMs : 0);
}

const subscribeDay = createSubscriber((update) => {
  let timer: ReturnType<typeof setTimeout>;
  const next = () => {
    timer = setTimeout(
      () => {
        update();
        next();
      },
      endOfDay(Date.now()) - Date.now(),
    );
  };
  next();
  return () => clearTimeout(timer);
});

/** The current day; an effect that reads it reruns at midnight. */
export function today(): string {
  subscribeDay();
  return dayOf(Date.now());
}
