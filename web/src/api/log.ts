/** Loads the complete log of a finished run. */
import { runLogPath } from "./calls.ts";
import type { RunEvent } from "./events.ts";
import { send } from "./http.ts";
import { problemIn, SseDecoder } from "./sse.ts";

export async function loadLog(run: string): Promise<RunEvent[]> {
  const response = await send(runLogPath(run), { headers: { accept: "text/event-stream" } });
  const frames = new SseDecoder().push(new Uint8Array(await response.arrayBuffer()));
  const problem = problemIn(frames);
  if (problem) throw problem;
  return frames.map((frame) => JSON.parse(frame.data) as RunEvent);
}
