/** The time now by the server's clock, ticking once a second while something shows it. */
import { createSubscriber } from "svelte/reactivity";

/** How far our clock is ahead of the server's; the smallest difference seen is nearest to the truth. */
let aheadMs = Number.POSITIVE_INFINITY;

/** Learns from the time stamp of an event that has just come. */
export function noteServerTime(at: number): void {
  aheadMs = Math.min(aheadMs, Date.now() - at);
}

const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1000);
  return () => clearInterval(timer);
});

/** Milliseconds since 1970 by the server's clock; reading it in an effect makes that effect tick. */
export function serverNow(): number {
  subscribe();
  return Date.now() - (Number.isFinite(aheadMs) ? aheadMs : 0);
}
