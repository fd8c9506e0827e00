// Feeds a text to the engine: a growing text a few times a second, a long text in slices.

import type { Block } from "./blocks";
import { StreamMarkdown } from "./engine";

/** An existing long text is parsed in slices of about this duration. */
const SLICE_MS = 10;

/** A growing text is rendered no more often; shorter than the interval at which the page receives text. */
const INTERVAL_MS = 66;

/** Receives the blocks to render. */
export type Show = (blocks: readonly Block[]) => void;

export class MarkdownFeed {
  readonly #show: Show;
  readonly #complete: () => void;
  #engine = new StreamMarkdown();
  #fed = "";
  #finished = false;
  #text = "";
  #streaming = false;
  /** When a text is replaced, the old one stays visible until the new one is parsed. */
  #replacing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushedAt = -Infinity;

  /** `complete` is called each time all of a complete text has been shown. */
  constructor(show: Show, complete: () => void = () => undefined) {
    this.#show = show;
    this.#complete = complete;
  }

  /** Takes the whole text so far and shows it, or as much of it as can be parsed now. */
  update(text: string, streaming: boolean): void {
    this.#text = text;
    this.#streaming = streaming;
    const waitMs = streaming ? this.#flushedAt + INTERVAL_MS - performance.now() : 0;
    if (waitMs > 0) this.#timer ??= setTimeout(() => this.#flush(), waitMs);
    // A pending slice will pick up the new text.
    else if (this.#timer === undefined || !streaming) this.#flush();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushedAt = performance.now();
    let isComplete: boolean;
    try {
      this.#feed();
      isComplete = this.#streaming ? this.#engine.flush(SLICE_MS) : this.#engine.finish(SLICE_MS);
    } catch (error) {
      reportError(error);
      this.#showSource();
      return;
    }
    this.#finished = isComplete && !this.#streaming;
    this.#replacing &&= !isComplete;
    if (!this.#replacing) this.#show([...this.#engine.blocks, ...this.#engine.tail]);
    if (!isComplete) this.#timer = setTimeout(() => this.#flush(), 0);
    else if (this.#finished) this.#complete();
  }

  /** A text that cannot be rendered is shown as its source. */
  #showSource(): void {
    this.#show([{ kind: "text", id: 0, joined: false, chunks: [], rest: this.#text }]);
    this.#engine = new StreamMarkdown();
    this.#fed = "";
    if (!this.#streaming) this.#complete();
  }

  /** Appends the new text, or starts a new engine if the text is not a continuation. */
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
