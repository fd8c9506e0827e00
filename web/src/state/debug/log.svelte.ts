/** Frames of a run in one protocol, followed live and across reconnects. */
import { runFramesPath } from "../../api/calls.ts";
import { follow, type Follower } from "../../api/follow.ts";
import type { ApiError } from "../../api/http.ts";
import type { SseFrame } from "../../api/sse.ts";
import { keptFrames, readFrame, type Frame } from "./frames.ts";
import { count, emptyTally } from "./tally.ts";

/** Refresh interval of the page; faster would be unreadable. */
const refreshMs = 200;

export type LogState = "connecting" | "live" | "lost" | "complete" | "refused";

export class FrameLog {
  /** Replaced on every refresh. */
  frames = $state.raw<readonly Frame[]>([]);
  state = $state<LogState>("connecting");
  refusal = $state.raw<ApiError | null>(null);
  /** Counts over all frames so far; not reactive, so read it after `frames`. */
  tally = emptyTally();

  #read: Frame[] = [];
  #isBack = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #follower: Follower;

  /** `isOver` returns whether the run has ended, which makes the end of the stream final. */
  constructor(run: string, format: string, isOver: () => boolean) {
    this.#follower = follow({
      path: () => runFramesPath(run, format, Number(this.#read.at(-1)?.id ?? 0)),
      onOpen: () => {
        this.state = "live";
        this.#isBack = this.#read.length > 0;
      },
      onFrames: (frames) => this.#take(frames),
      onLost: () => (this.state = "lost"),
      onRefused: (error) => {
        this.refusal = error;
        this.state = "refused";
      },
      isComplete: (ended) => {
        const complete = this.#read.at(-1)?.type === "run_finished" || (ended && isOver());
        if (complete) {
          this.#show();
          this.state = "complete";
        }
        return complete;
      },
    });
  }

  stop(): void {
    this.#follower.stop();
    clearTimeout(this.#timer);
  }

  #take(sent: SseFrame[]): void {
    const [first] = sent;
    if (this.#isBack && first) this.#keep(keptFrames(this.#read, first));
    this.#isBack = false;
    for (const frame of sent) this.#add(frame);
    // The first frames are shown immediately.
    if (this.frames.length === 0) this.#show();
    else this.#timer ??= setTimeout(() => this.#show(), refreshMs);
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.frames = [...this.#read];
  }

  #add(sent: SseFrame): void {
    const read = readFrame(sent, this.#read.length);
    this.#read.push(read.frame);
    count(this.tally, read);
  }

  #keep(length: number): void {
    if (length === this.#read.length) return;
    const kept = this.#read.slice(0, length);
    this.#read = [];
    this.tally = emptyTally();
    for (const frame of kept) this.#add(frame);
  }
}
