/** Pipelines: small model calls around a chat. */
import { ApiError, call, send } from "./http.ts";
import { readFrames, type SseFrame } from "./sse.ts";
import type {
  Pipeline,
  PipelineCall,
  PipelineList,
  PipelinePreview,
  PipelineSettings as Settings,
  TaskConfig,
} from "./schema.ts";

export type { Pipeline, PipelineCall, PipelineList, PipelinePreview as Preview, TaskConfig };
/** The app always sends every field. */
export type PipelineSettings = Required<Settings>;

export type PipelineName =
  "title" | "tags" | "follow_ups" | "queries" | "rag" | "autocomplete" | "moa" | "tools" | "code_interpreter";

/** Maximum number of samples per model, and of layers. */
export const maxSamples = 8;
export const maxLayers = 3;
/** Maximum number of retrieved passages, and of code retries. */
export const maxPassages = 50;
export const maxRetries = 50;

const v1 = "/api/v1";
const path = (name: string) => `${v1}/pipelines/${encodeURIComponent(name)}`;

export const listPipelines = () => call<PipelineList>("GET", `${v1}/pipelines`);
export const putTaskConfig = (config: Partial<TaskConfig>) =>
  call<TaskConfig>("POST", `${v1}/tasks/config/update`, config);
export const putPipeline = (name: string, set: PipelineSettings) => call<Pipeline>("PUT", path(name), set);
export const previewPipeline = (name: string, template: string, ask: boolean) =>
  call<PipelinePreview>("POST", `${path(name)}/preview`, { template, ask });
export const callsBeside = (run: string) =>
  call<{ calls: PipelineCall[] }>("GET", `${v1}/runs/${encodeURIComponent(run)}/pipelines`);

interface Chunk {
  choices?: { delta?: { content?: string } }[];
  error?: { message?: string };
}

/** Streams an autocompletion of the text; `hear` receives all of it so far. Empty if there is no suggestion. */
export async function complete(
  model: string,
  prompt: string,
  abort: AbortController,
  hear: (soFar: string) => void,
): Promise<string> {
  const response = await send(`${v1}/tasks/auto/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, prompt, type: "chat", stream: true }),
    signal: abort.signal,
  });
  let json = "";
  const take = ({ data }: SseFrame) => {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw new ApiError(502, "model_failed", chunk.error.message ?? "");
    json += chunk.choices?.[0]?.delta?.content ?? "";
  };
  await readFrames(
    response,
    (frames) => {
      frames.forEach(take);
      hear(textSoFar(json));
    },
    abort,
  );
  return textSoFar(json);
}

/** Extracts the text from a possibly incomplete `{"text":"…"}`. */
export function textSoFar(json: string): string {
  const found = /^\{\s*"text"\s*:\s*("(?:[^"\\]|\\.)*)/.exec(json)?.[1];
  return found === undefined ? "" : (JSON.parse(`${found}"`) as string);
}
