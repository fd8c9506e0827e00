/**
 * Reads server-sent events from a fetch response, which gives control over headers and aborting, unlike `EventSource`.
 */
import { type ApiError, errorOf } from "./http.ts";
import { Pace } from "./pace.ts";

/** A server-sent event as received. */
export interface SseFrame {
  event: string | null;
  id: string | null;
  data: string;
}

/** Splits a byte stream into frames per the HTML standard; keep-alive comments yield no frame. */
export class SseDecoder {
  #text = new TextDecoder();
  #rest = "";
  #event: string | null = null;
  #id: string | null = null;
  #data: string[] = [];

  /** Returns the frames completed by these bytes. */
  push(bytes: Uint8Array): SseFrame[] {
    this.#rest += this.#text.decode(bytes, { stream: true });
    // A trailing CR may be the first half of CRLF: wait for the next byte.
    const end = this.#rest.endsWith("\r") ? this.#rest.length - 1 : this.#rest.length;
    const lines = this.#rest.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + this.#rest.slice(end);
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): SseFrame | undefined {
    if (line === "") {
      const frame = { event: this.#event, id: this.#id, data: this.#data.join("\n") };
      const isWhole = this.#data.length > 0;
      this.#event = this.#id = null;
      this.#data = [];
      return isWhole ? frame : undefined;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    if (name === "event") this.#event = value;
    if (name === "id") this.#id = value;
    return undefined;
  }
}

/** The error of a stream that cannot continue, such as when the log is damaged. */
export function problemIn(frames: SseFrame[]): ApiError | null {
  const problem = frames.find((frame) => frame.event === "problem");
  return problem ? errorOf(500, JSON.parse(problem.data), "", null) : null;
}

/** The server sends a comment every 15 s; a longer silence means the connection is dead. */
const silenceLimitMs = 45_000;
const silenceCheckMs = 5_000;

/** Calls `onFrames` with each batch until the stream ends; throws if it breaks or times out. */
export async function readFrames(
  response: Response,
  onFrames: (frames: SseFrame[]) => void,
  abort: AbortController,
): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new SseDecoder();
  const pace = new Pace();
  let waiting: SseFrame[] = [];
  let batch: ReturnType<typeof setTimeout> | undefined;
  let heardAt = performance.now();

  const give = () => {
    clearTimeout(batch);
    batch = undefined;
    const frames = waiting;
    waiting = [];
    if (frames.length > 0) pace.show(() => onFrames(frames));
  };
  const watch = setInterval(() => {
    if (performance.now() - heardAt > silenceLimitMs) abort.abort("silence");
  }, silenceCheckMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heardAt = performance.now();
      waiting.push(...decoder.push(value));
      if (waiting.length > 0) batch ??= setTimeout(give, pace.waitMs());
    }
  } finally {
    clearInterval(watch);
    // Deliver what arrived before the connection broke; after a stop there is no receiver.
    give();
  }
}
