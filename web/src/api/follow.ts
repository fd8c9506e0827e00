/** Keeps an event stream open: reconnects with exponential backoff and resumes after the last event. */
import { ApiError, send } from "./http.ts";
import { problemIn, readFrames, type SseFrame } from "./sse.ts";

export interface FollowOptions {
  /** Path to request; called again for each attempt so that it can include the last event seen. */
  path: () => string;
  /** Called with batches of the frames that arrived within a few hundredths of a second. */
  onFrames: (frames: SseFrame[]) => void;
  /** The connection is open (again). */
  onOpen?: () => void;
  /** The connection was lost; the next attempt starts in `waitMs`. */
  onLost?: (waitMs: number) => void;
  /** The server rejected the request (not found, signed out, a damaged log): no further attempts. */
  onRefused?: (error: ApiError) => void;
  /** Whether the stream is complete, called when it closes; `ended` if the server closed it properly. */
  isComplete: (ended: boolean) => boolean;
}

export interface Follower {
  stop(): void;
  /** Skips the current wait and retries immediately. */
  retryNow(): void;
}

const firstWaitMs = 500;
const maxWaitMs = 10_000;

function isRefusal(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  // Retrying does not repair a damaged log.
  if (error.sentence?.code === "damaged_log") return true;
  return error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** Starts following; runs until the stream is complete, rejected or stopped. */
export function follow(options: FollowOptions): Follower {
  let stopped = false;
  let failures = 0;
  let abort = new AbortController();
  let wake: () => void = () => {};

  async function once(): Promise<void> {
    abort = new AbortController();
    const response = await send(options.path(), {
      headers: { accept: "text/event-stream" },
      signal: abort.signal,
      cache: "no-store",
    });
    options.onOpen?.();
    const problems: ApiError[] = [];
    await readFrames(
      response,
      (frames) => {
        failures = 0;
        const problem = problemIn(frames);
        if (problem) problems.push(problem);
        const events = frames.filter((frame) => frame.event !== "problem");
        if (!stopped && events.length > 0) options.onFrames(events);
      },
      abort,
    );
    const [problem] = problems;
    if (problem) throw problem;
  }

  async function pause(): Promise<void> {
    const base = Math.min(maxWaitMs, firstWaitMs * 2 ** failures);
    const waitMs = Math.round(base * (0.75 + Math.random() * 0.5));
    failures += 1;
    options.onLost?.(waitMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      let ended = false;
      try {
        await once();
        ended = true;
      } catch (error) {
        if (stopped) return;
        if (isRefusal(error)) {
          options.onRefused?.(error);
          return;
        }
      }
      if (stopped || options.isComplete(ended)) return;
      await pause();
    }
  }

  const retryNow = () => wake();
  window.addEventListener("online", retryNow);
  void loop().finally(() => window.removeEventListener("online", retryNow));
  return {
    stop() {
      stopped = true;
      abort.abort("stopped");
      wake();
    },
    retryNow,
  };
}
