/** The pipelines: small model calls around a chat. */
import type { Coded } from "./events.ts";
import { ApiError, call, send } from "./http.ts";
import { readFrames, type SseFrame } from "./sse.ts";

export interface PipelineSettings {
  enabled: boolean | null;
  template: string | null;
  model: string | null;
  output_tokens: number | null;
  seconds: number | null;
}

export interface PipelineCall {
  pipelines: string[];
  model: string;
  at: number;
  duration_ms: number;
  usage: { input_tokens: number; output_tokens: number };
  cost_micro_usd: number | null;
  outcome: "done" | "fallback" | "failed" | "cancelled";
  /** What was written, or why nothing was; and that by its code. */
  detail?: string;
  sentence?: Coded;
}

export type PipelineName =
  "title" | "tags" | "follow_ups" | "queries" | "rag" | "autocomplete" | "moa" | "tools" | "code_interpreter";

export interface Pipeline {
  name: PipelineName;
  enabled: boolean;
  template: string;
  default_template: string;
  output_tokens: number;
  seconds: number;
  /** What was set here; null is as the configuration says. */
  set: PipelineSettings;
  calls: number;
  failed: number;
  cancelled: number;
  usage: { input_tokens: number; output_tokens: number };
  cost_micro_usd: number;
  latest: PipelineCall[];
}

export interface Preview {
  chat: string | null;
  prompt: string;
  answer?: unknown;
  fault?: string;
  sentence?: Coded;
  model?: string;
}

/** What is set for the pipelines under other names, as far as it is changed from here. */
export interface TaskConfig {
  TASK_MODEL: string;
  TASK_MODEL_EXTERNAL: string;
  ENABLE_SEARCH_QUERY_GENERATION: boolean;
  ENABLE_RETRIEVAL_QUERY_GENERATION: boolean;
  AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: number;
  MOA_SAMPLES: number;
  MOA_LAYERS: number;
  RAG_TOP_K: number;
  RAG_SYSTEM_CONTEXT: boolean;
  CODE_INTERPRETER_MAX_RETRIES: number;
}

/** Most answers of one model at a time, and most layers of them. */
export const maxSamples = 8;
export const maxLayers = 3;
/** Most passages of what was found, and most retries of code. */
export const maxPassages = 50;
export const maxRetries = 50;

export interface PipelineList {
  pipelines: Pipeline[];
  task_model: string;
  task_model_external: string;
  /** What queries are worked out for. */
  search_queries: boolean;
  retrieval_queries: boolean;
  /** How often one model is asked, and how often is answered before answers are merged, where nobody says. */
  moa_samples: number;
  moa_layers: number;
  /** Up to how many characters a text is completed; any where negative. */
  input_max_length: number;
  /** Most passages of what was found for a message, and whether they stand in the system message. */
  rag_top_k: number;
  rag_system_context: boolean;
  /** How often in a row code that failed is tried again in one answer. */
  code_max_retries: number;
}

const v1 = "/api/v1";
const path = (name: string) => `${v1}/pipelines/${encodeURIComponent(name)}`;

export const listPipelines = () => call<PipelineList>("GET", `${v1}/pipelines`);
export const putTaskConfig = (config: Partial<TaskConfig>) =>
  call<TaskConfig>("POST", `${v1}/tasks/config/update`, config);
export const putPipeline = (name: string, set: PipelineSettings) => call<Pipeline>("PUT", path(name), set);
export const previewPipeline = (name: string, template: string, ask: boolean) =>
  call<Preview>("POST", `${path(name)}/preview`, { template, ask });
export const callsBeside = (run: string) =>
  call<{ calls: PipelineCall[] }>("GET", `${v1}/runs/${encodeURIComponent(run)}/pipelines`);

interface Chunk {
  choices?: { delta?: { content?: string } }[];
  error?: { message?: string };
}

/** How a text goes on that is being written, as it is written: `hear` is told all of it so far. Empty where it does not go on. */
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

/** The text of `{"text":"…"}`, the end of which may not have come yet. */
export function textSoFar(json: string): string {
  const found = /^\{\s*"text"\s*:\s*("(?:[^"\\]|\\.)*)/.exec(json)?.[1];
  return found === undefined ? "" : (JSON.parse(`${found}"`) as string);
}
