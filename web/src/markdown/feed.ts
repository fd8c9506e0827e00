// Feeds a text to the engine: what is new at once, a long text in slices.

import type { Block } from "./blocks";
import { StreamMarkdown } from "./engine";

/** A long text that is already there is read in slices of about this size. */
const SLICE_MS = 10;

/** Takes over what there is to be seen. */
export type Show = (blocks: readonly Block[]) => void;

export class MarkdownFeed {
  readonly #show: Show;
  readonly #complete: () => void;
  #engine = new StreamMarkdown();
  #fed = "";
  #finished = false;
  #text = "";
  #streaming = false;
  /** A text replaced by another stays in view until the new one is read. */
  #replacing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `complete` is called each time all of a finished text has been shown. */
  constructor(show: Show, complete: () => void = () => undefined) {
    this.#show = show;
    this.#complete = complete;
  }

  /** Takes the whole text so far and shows it, or as much of it as can be read now. */
  update(text: string, streaming: boolean): void {
    this.#text = text;
    this.#streaming = streaming;
    // A slice that waits will find the new text.
    if (this.#timer === undefined) this.#flush();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#timer = undefined;
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

  /** A text that cannot be rendered is still there to be read. */
  #showSource(): void {
    this.#show([{ kind: "text", id: 0, joined: false, chunks: [], rest: this.#text }]);
    this.#engine = new StreamMarkdown();
    this.#fed = "";
    if (!this.#streaming) this.#complete();
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
