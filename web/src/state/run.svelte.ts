/** A run as the page shows it: its timeline, how it is being followed, and what the reader has opened. */
import { SvelteMap } from "svelte/reactivity";
import { getCall, runEventsAddress } from "../api/calls.ts";
import type { RunEvent } from "../api/events.ts";
import { follow, type Follower } from "../api/follow.ts";
import type { ApiError } from "../api/http.ts";
import type { SseFrame } from "../api/sse.ts";
import { noteServerTime, serverNow } from "./clock.svelte.ts";
import { emptyRun, type NodeId, type RunNode, type TimelineNode } from "./nodes.ts";
import { createTimeline, nodeOf, reduce, runId, type Timeline } from "./timeline.ts";

const previewBytes = 2000;

/** What only research says of what goes on. */
const researching = new Set<string | undefined>([
  "planning",
  "searching_in_turn",
  "reading_in_turn",
  "writing_report",
]);

/** A tool call that the search through the chats has led to, and the words that it was found by. */
export interface FoundCall {
  call: string;
  words: string;
}

export type Connection = "idle" | "connecting" | "live" | "lost" | "ended";

export class RunView {
  readonly nodes = new SvelteMap<NodeId, TimelineNode>([[runId, emptyRun]]);
  /** When each event happened, by its number; those not read yet are missing. */
  readonly times: number[] = [];
  connection = $state<Connection>("idle");
  /** When the next try to reconnect starts, by our own clock. */
  retryAt = $state(0);
  refusal = $state.raw<ApiError | null>(null);
  /** What the reader chose for the fold; null while they have not touched it. */
  foldChoice = $state<boolean | null>(null);
  /** Rows the reader opened or closed; the others follow their own rule. */
  readonly choices = new SvelteMap<NodeId, boolean>();
  /** Whether it is shown as it once was: then nothing in it can be answered. */
  readonly replayed: boolean = false;
  /** Whole results fetched because the log held only their beginning, by call. */
  readonly results = new SvelteMap<string, string>();
  /** Words to look for in the steps. */
  search = $state("");
  /** What is to be seen of them. */
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

  /** Whether it is research: it has tools that nothing else has, and says what it does in words of its own. */
  get isResearch(): boolean {
    const { children, statuses } = this.run;
    const ofResearch = (id: NodeId) =>
      ["plan_research", "read_source"].includes(nodeOf(this.nodes, id, "tool")?.name ?? "");
    const says = statuses.some(({ words }) => researching.has(words.sentence?.code));
    return says || children.some(ofResearch);
  }

  /** Whether any of the log has come. */
  get loaded(): boolean {
    return this.run.startedAt > 0;
  }

  /** The time by the server's clock that running things are measured against. */
  now(): number {
    return serverNow();
  }

  /** Reads the log from where we are and, while the run goes on, what it adds. */
  follow(): void {
    if (this.#follower || this.connection === "ended") return;
    this.connection = "connecting";
    this.refusal = null;
    this.#follower = follow({
      address: () => runEventsAddress(this.id, this.#timeline.seq, previewBytes),
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

  /** Opens the steps where a call stands. */
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

  /** The whole result of a call, asked of the server where the log held only its beginning. */
  async fetchResult(call: string): Promise<string> {
    const known = this.results.get(call);
    if (known !== undefined) return known;
    const { result } = await getCall(this.id, call);
    this.results.set(call, result);
    return result;
  }

  /** Fetches every result that is only begun, one after the other, so that a search finds all there is. */
  async fetchResults(): Promise<void> {
    for (const node of [...this.nodes.values()]) {
      if (node.kind === "tool" && node.preview) await this.fetchResult(node.call);
    }
  }

  /** Whether a row is open: the reader's choice, else `byItself`. */
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
