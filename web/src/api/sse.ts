/** Reads server-sent events from a fetch response, so that headers and aborting stay in our hands. */

export interface SseFrame {
  id: string | null;
  data: string;
}

/** Cuts a byte stream into frames as the HTML standard says; keep-alive comments give no frame. */
export class SseDecoder {
  #text = new TextDecoder();
  #rest = "";
  #id: string | null = null;
  #data: string[] = [];

  /** Frames completed by these bytes. */
  push(bytes: Uint8Array): SseFrame[] {
    this.#rest += this.#text.decode(bytes, { stream: true });
    // A trailing CR may be the first half of CRLF: wait for what follows.
    const end = this.#rest.endsWith("\r") ? this.#rest.length - 1 : this.#rest.length;
    const lines = this.#rest.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + this.#rest.slice(end);
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): SseFrame | undefined {
    if (line === "") {
      if (this.#data.length === 0) return undefined;
      const frame = { id: this.#id, data: this.#data.join("\n") };
      this.#data = [];
      return frame;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    if (name === "id") this.#id = value;
    return undefined;
  }
}

/** The server sends a comment every 15 s; silence for longer means the line is dead. */
const silenceLimitMs = 45_000;

/** Calls `onFrame` for every frame until the stream ends; throws when it breaks or falls silent. */
export async function readFrames(
  response: Response,
  onFrame: (frame: SseFrame) => void,
  abort: AbortController,
): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new SseDecoder();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort("silence"), silenceLimitMs);
      const { done, value } = await reader.read();
      if (done) return;
      for (const frame of decoder.push(value)) onFrame(frame);
    }
  } finally {
    clearTimeout(timer);
  }
}
