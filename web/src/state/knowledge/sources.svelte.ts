/** Sources of a collection, polled while one is being synchronized, and loaded again when one is due. */
import type { DocumentSource } from "../../api/schema.ts";
import { serverNow } from "../clock.svelte.ts";
import { sentenceOf } from "../toasts.svelte.ts";
import { listSources } from "../../api/sources.ts";

const runningPauseMs = 2000;
const shortestPauseMs = 5000;
const longestPauseMs = 3_600_000;

const stateOf = (list: DocumentSource[]) => JSON.stringify(list.map(({ id, latest }) => [id, latest]));
const isRunning = ({ latest }: DocumentSource) => latest?.state === "running";

export class Sources {
  /** `null` until loaded. */
  list = $state.raw<DocumentSource[] | null>(null);
  /** Folders of the server that the user may choose. */
  folders = $state.raw<string[]>([]);
  problem = $state("");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** `onchange` is called when documents may have changed. */
  constructor(
    readonly collection: string,
    readonly onchange: () => void,
  ) {}

  async load(): Promise<void> {
    const before = this.list;
    try {
      const { sources, folders } = await listSources(this.collection);
      this.list = sources;
      this.folders = folders;
      this.problem = "";
    } catch (error) {
      this.problem = sentenceOf(error);
    }
    if (this.#isClosed) return;
    if (before && this.list && stateOf(before) !== stateOf(this.list)) this.onchange();
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const pauseMs = this.#pauseMs();
    if (pauseMs !== null) this.#timer = setTimeout(() => void this.load(), pauseMs);
  }

  #pauseMs(): number | null {
    if (this.problem !== "") return shortestPauseMs;
    if (this.list?.some(isRunning)) return runningPauseMs;
    const due = this.list?.flatMap(({ next_at }) => next_at ?? []) ?? [];
    if (due.length === 0) return null;
    return Math.min(Math.max(Math.min(...due) - serverNow(), shortestPauseMs), longestPauseMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }
}
