// Feeds a growing text to the engine in small bites: at most one update per 30 ms, fewer when they cost a lot.

import type { Block } from "./blocks";
import { StreamMarkdown } from "./engine";

const INTERVAL_MS = 30;
const LONGEST_INTERVAL_MS = 400;
/** Reading and drawing use at most one part in so many of the time; layout and paint cost about as much again. */
const SHARE = 20;
/** A long text that is already there is read in slices of about this size. */
const SLICE_MS = 10;

/** Shows blocks; resolves when the page has taken them over. */
export type Show = (blocks: readonly Block[]) => Promise<void> | void;

export class MarkdownFeed {
  readonly #show: Show;
  #engine = new StreamMarkdown();
  #fed = "";
  #finished = false;
  #text = "";
  #streaming = false;
  /** A text replaced by another stays in view until the new one is read. */
  #replacing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastStart = -Infinity;
  #lastCostMs = 0;

  constructor(show: Show) {
    this.#show = show;
  }

  /** Takes the whole text so far; cheap, may be called for every token. */
  update(text: string, streaming: boolean): void {
    this.#text = text;
    const ends = this.#streaming && !streaming;
    this.#streaming = streaming;
    if (ends || this.#timer === undefined) this.#schedule(ends);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(now: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const interval = Math.min(LONGEST_INTERVAL_MS, Math.max(INTERVAL_MS, this.#lastCostMs * SHARE));
    const wait = now ? 0 : this.#lastStart + interval - performance.now();
    if (wait <= 0) this.#flush();
    else this.#timer = setTimeout(() => requestAnimationFrame(() => this.#flush()), wait);
  }

  #flush(): void {
    this.#timer = undefined;
    this.#lastStart = performance.now();
    this.#feed();
    const isComplete = this.#streaming ? this.#engine.flush(SLICE_MS) : this.#engine.finish(SLICE_MS);
    this.#finished = isComplete && !this.#streaming;
    this.#replacing &&= !isComplete;
    const shown = this.#replacing ? undefined : this.#show([...this.#engine.blocks, ...this.#engine.tail]);
    this.#lastCostMs = performance.now() - this.#lastStart;
    const start = this.#lastStart;
    void shown?.then(() => {
      this.#lastCostMs = Math.max(this.#lastCostMs, performance.now() - start);
    });
    if (!isComplete) this.#timer = setTimeout(() => this.#flush(), 0);
  }

  /** Gives the engine what is new, or a new engine when the text is not a continuation. */
  #feed(): void {
    const grown = this.#text.startsWith(this.#fed);
    const changed = this.#text.length !== this.#fed.length;
    if (!grown || (this.#finished && (changed || this.#streaming))) {
      this.#replacing = this.#fed !== "";
      this.#engine = new StreamMarkdown();
      this.#fed = "";
      this.#finished = false;
    }
    this.#engine.append(this.#text.slice(this.#fed.length));
    this.#fed = this.#text;
  }
}
