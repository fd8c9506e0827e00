/** Documents of a collection, polled while any is still being parsed or embedded. */
import { listDocuments, type Document } from "../../api/knowledge.ts";
import { sentenceOf } from "../toasts.svelte.ts";

const firstPauseMs = 1000;
const maxPauseMs = 8000;

export class Documents {
  /** `null` until loaded. */
  list = $state.raw<Document[] | null>(null);
  problem = $state("");
  readonly waiting = $derived(this.list?.filter(({ state }) => state === "waiting").length ?? 0);
  /** Number of chunks not embedded yet. */
  readonly meaningless = $derived(
    this.list?.reduce(
      (sum, { meaning }) =>
        sum + (meaning && meaning.problem?.code !== "cancelled" ? meaning.chunks - meaning.done : 0),
      0,
    ) ?? 0,
  );
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pauseMs = firstPauseMs;
  #isClosed = false;

  constructor(readonly collection: string) {}

  async load(): Promise<void> {
    const before = `${this.waiting} ${this.meaningless}`;
    try {
      this.list = (await listDocuments(this.collection)).documents;
      this.problem = "";
    } catch (error) {
      this.problem = sentenceOf(error);
    }
    // Backs off while nothing changes.
    const isSame = `${this.waiting} ${this.meaningless}` === before;
    this.#pauseMs = isSame ? Math.min(this.#pauseMs * 1.5, maxPauseMs) : firstPauseMs;
    if (this.waiting + this.meaningless > 0) this.#after(this.#pauseMs);
  }

  /** Reloads soon after a change; further changes within a moment share the request. */
  soon(): void {
    this.#pauseMs = firstPauseMs;
    this.#timer ??= setTimeout(() => this.#again(), 300);
  }

  #after(pauseMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = this.#isClosed ? undefined : setTimeout(() => this.#again(), pauseMs);
  }

  #again(): void {
    this.#timer = undefined;
    if (!this.#isClosed) void this.load();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
