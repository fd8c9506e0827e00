/** View of a run: its timeline, connection state, and expanded rows. */
import { SvelteMap } from "svelte/reactivity";
import { getCall, runEventsPath } from "../api/calls.ts";
import type { RunEvent } from "../api/events.ts";
import { follow, type Follower } from "../api/follow.ts";
import type { ApiError } from "../api/http.ts";
import type { SseFrame } from "../api/sse.ts";
import { noteServerTime, serverNow } from "./clock.svelte.ts";
import { emptyRun, type NodeId, type RunNode, type TimelineNode } from "./nodes.ts";
import { createTimeline, nodeOf, reduce, runId, type Timeline } from "./timeline.ts";

const previewBytes = 2000;

/** Statuses that only research reports. */
const researching = new Set<string | undefined>([
  "planning",
  "searching_in_turn",
  "reading_in_turn",
  "writing_report",
]);

/** A tool call with a chat search hit, and the words that matched. */
export interface FoundCall {
  call: string;
  words: string;
}

export type Connection = "idle" | "connecting" | "live" | "lost" | "ended";

export class RunView {
  readonly nodes = new SvelteMap<NodeId, TimelineNode>([[runId, emptyRun]]);
  /** Timestamps of the events by sequence number; sparse, as events not read yet are missing. */
  readonly times: number[] = [];
  connection = $state<Connection>("idle");
  /** When the next reconnect attempt starts, by the local clock. */
  retryAt = $state(0);
  refusal = $state.raw<ApiError | null>(null);
  /** Whether the user expanded or collapsed the fold; `null` if untouched. */
  foldChoice = $state<boolean | null>(null);
  /** Rows the user expanded or collapsed; other rows use their own default. */
  readonly choices = new SvelteMap<NodeId, boolean>();
  /** Whether it is a replay, in which nothing can be answered. */
  readonly replayed: boolean = false;
  /** Full results, by call, fetched because the log held only a preview. */
  readonly results = new SvelteMap<string, string>();
  /** Query of the search in the steps. */
  search = $state("");
  /** The chat search hit to show. */
  found = $state.raw<FoundCall | null>(null);

  #timeline: Timeline;
  #follower: Follower | undefined;
  #onFinished: (view: RunView) => void;

  constructor(
    readonly id: string,
    onFinished: (view: RunView) => void = () => {},
  ) {
    this.#timeline = createTimeline(this.nodes);
    this.#onFinished = onFinished;
  }

  get run(): RunNode {
    return nodeOf(this.nodes, runId, "run") ?? emptyRun;
  }

  get finished(): boolean {
    return this.run.outcome !== null;
  }

  /** Whether it is a research run, recognised by its tools and statuses. */
  get isResearch(): boolean {
    const { children, statuses } = this.run;
    const ofResearch = (id: NodeId) =>
      ["plan_research", "read_source"].includes(nodeOf(this.nodes, id, "tool")?.name ?? "");
    const says = statuses.some(({ words }) => researching.has(words.sentence?.code));
    return says || children.some(ofResearch);
  }

  /** Whether any of the log is loaded. */
  get loaded(): boolean {
    return this.run.startedAt > 0;
  }

  /** Server time against which running steps are measured. */
  now(): number {
    return serverNow();
  }

  /** Loads the log from the current position and follows it while the run is active. */
  follow(): void {
    if (this.#follower || this.connection === "ended") return;
    this.connection = "connecting";
    this.refusal = null;
    this.#follower = follow({
      path: () => runEventsPath(this.id, this.#timeline.seq, previewBytes),
      onOpen: () => (this.connection = "live"),
      onFrames: (frames) => this.#read(frames),
      onLost: (waitMs) => {
        this.connection = "lost";
        this.retryAt = Date.now() + waitMs;
      },
      onRefused: (error) => {
        this.refusal = error;
        this.#end();
      },
      isComplete: () => this.finished,
    });
  }

  /** Expands the steps that contain a call. */
  showCall(found: FoundCall): void {
    for (const [id, open] of this.choices) if (!open) this.choices.delete(id);
    this.found = found;
    this.foldChoice = true;
    this.follow();
  }

  retryNow(): void {
    this.#follower?.retryNow();
  }

  stopFollowing(): void {
    this.#follower?.stop();
    this.#follower = undefined;
    if (this.connection !== "ended") this.connection = "idle";
  }

  /** Full result of a call, fetched from the server if the log held only a preview. */
  async fetchResult(call: string): Promise<string> {
    const known = this.results.get(call);
    if (known !== undefined) return known;
    const { result } = await getCall(this.id, call);
    this.results.set(call, result);
    return result;
  }

  /** Fetches all truncated results, one after the other, so that a search covers them. */
  async fetchResults(): Promise<void> {
    for (const node of [...this.nodes.values()]) {
      if (node.kind === "tool" && node.preview) await this.fetchResult(node.call);
    }
  }

  /** Whether a row is expanded: the user's choice, else `byItself`. */
  isOpen(id: NodeId, byItself = false): boolean {
    return this.choices.get(id) ?? byItself;
  }

  #read(frames: SseFrame[]): void {
    for (const frame of frames) {
      const event = JSON.parse(frame.data) as RunEvent;
      noteServerTime(event.at);
      this.times[event.seq] = event.at;
      reduce(this.#timeline, event);
    }
    if (this.finished) this.#end();
  }

  #end(): void {
    if (this.connection === "ended") return;
    this.#follower?.stop();
    this.#follower = undefined;
    this.connection = "ended";
    this.#onFinished(this);
  }
}
