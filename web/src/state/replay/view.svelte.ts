/** A finished run shown as it was after any number of its events; nothing is asked of the server but whole results. */
import type { RunEvent } from "../../api/events.ts";
import { RunView } from "../run.svelte.ts";
import { createTimeline, reduce, type Timeline } from "../timeline.ts";

export class ReplayView extends RunView {
  override readonly replayed = true;
  /** The server's clock then. */
  #at = $state(0);
  #shown: Timeline;
  #count = 0;

  constructor(
    id: string,
    private readonly log: readonly RunEvent[],
  ) {
    super(id);
    this.#shown = createTimeline(this.nodes);
  }

  override now(): number {
    return this.#at;
  }

  /** The log is here already. */
  override follow(): void {}

  /** Shows the first `count` events. What comes later is added; going back begins anew. */
  show(count: number): void {
    if (count < this.#count) this.#rewind(count);
    else for (const event of this.log.slice(this.#count, count)) reduce(this.#shown, event);
    this.#count = count;
    this.#at = this.log[count - 1]?.at ?? 0;
  }

  /** Reads the log again into a map that nobody watches, and tells those who watch only what has changed. */
  #rewind(count: number): void {
    const then = createTimeline();
    for (const event of this.log.slice(0, count)) reduce(then, event);
    for (const id of [...this.nodes.keys()]) if (!then.nodes.has(id)) this.nodes.delete(id);
    for (const [id, node] of then.nodes) this.nodes.set(id, node);
    this.#shown.seq = then.seq;
  }
}
