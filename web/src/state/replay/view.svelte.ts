/** View of a finished run after any number of its events; only full results are requested from the server. */
import type { RunEvent } from "../../api/events.ts";
import { RunView } from "../run.svelte.ts";
import { createTimeline, reduce, type Timeline } from "../timeline.ts";

export class ReplayView extends RunView {
  override readonly replayed = true;
  /** The server time at that point. */
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

  /** The log is already loaded. */
  override follow(): void {}

  /** Shows the first `count` events. Later events are appended; going back starts over. */
  show(count: number): void {
    if (count < this.#count) this.#rewind(count);
    else for (const event of this.log.slice(this.#count, count)) reduce(this.#shown, event);
    this.#count = count;
    this.#at = this.log[count - 1]?.at ?? 0;
  }

  /** Reduces the log again into an unobserved map, then copies the result into the observed one. */
  #rewind(count: number): void {
    const then = createTimeline();
    for (const event of this.log.slice(0, count)) reduce(then, event);
    for (const id of [...this.nodes.keys()]) if (!then.nodes.has(id)) this.nodes.delete(id);
    for (const [id, node] of then.nodes) this.nodes.set(id, node);
    this.#shown.seq = then.seq;
  }
}
