/** Replays a finished run from its stored log, with its own timing, at a chosen speed. It sends nothing. */
import { loadLog } from "../../api/log.ts";
import type { RunEvent } from "../../api/events.ts";
import { countAt, momentsOf, wholeCount, type Moments } from "./moments.ts";
import { ReplayView } from "./view.svelte.ts";

export const speeds = [1, 2, 5, 20] as const;
/** Updates more frequent than this are not perceptible. */
const tickMs = 33;

export class Replay {
  readonly view: ReplayView;
  readonly moments: Moments;
  /** Number of events shown. */
  count = $state(0);
  playing = $state(false);
  speed = $state<(typeof speeds)[number]>(1);
  /** Position of the replay, milliseconds at speed 1. */
  #ms = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  #calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

  constructor(
    readonly message: string,
    run: string,
    readonly log: readonly RunEvent[],
  ) {
    this.moments = momentsOf(log);
    this.view = new ReplayView(run, log);
    // Show something from the start.
    this.#show(this.moments.stops[0] ?? log.length);
    if (!this.#calm) this.play();
  }

  get atEnd(): boolean {
    return this.count >= this.log.length;
  }

  /** Milliseconds at speed 1, out of `moments.totalMs`. */
  get ms(): number {
    return this.moments.shownAt[this.count - 1] ?? 0;
  }

  /** How much of the run's pause here the replay skips; 0 if nothing. */
  get skippedMs(): number {
    return this.moments.skippedMs[this.count] ?? 0;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  play(): void {
    if (this.atEnd) this.#show(this.moments.stops[0] ?? 0);
    this.#ms = this.ms;
    this.playing = true;
    let before = performance.now();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#ms += (now - before) * this.speed;
      before = now;
      this.#advance(countAt(this.moments, this.#ms));
    }, tickMs);
  }

  pause(): void {
    this.playing = false;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Moves to the next or previous item. */
  step(direction: 1 | -1): void {
    this.pause();
    const { stops } = this.moments;
    const next =
      direction > 0 ? stops.find((stop) => stop > this.count) : stops.findLast((stop) => stop < this.count);
    if (next !== undefined) this.#show(next);
  }

  /** Moves to where `count` events are shown. */
  seek(count: number): void {
    this.#show(Math.min(this.log.length, Math.max(1, count)));
    this.#ms = this.ms;
  }

  #advance(count: number): void {
    const shown = this.#calm ? wholeCount(this.log, count) : count;
    if (shown > this.count) this.#show(shown);
    if (this.atEnd) this.pause();
  }

  #show(count: number): void {
    this.view.show(count);
    this.count = count;
  }
}

class Player {
  /** The current replay. */
  replay = $state.raw<Replay | null>(null);
  /** The message whose log is loading. */
  #wanted: string | null = null;

  /** The replay of this message's run, if it is the current one. */
  of(message: string): Replay | null {
    return this.replay?.message === message ? this.replay : null;
  }

  async start(message: string, run: string): Promise<void> {
    if (this.#wanted === message) return;
    this.end();
    this.#wanted = message;
    const log = await loadLog(run).catch((error: unknown) => {
      if (this.#wanted === message) this.#wanted = null;
      throw error;
    });
    if (this.#wanted === message) this.replay = new Replay(message, run, log);
  }

  end(): void {
    this.#wanted = null;
    this.replay?.pause();
    this.replay = null;
  }
}

export const player = new Player();
