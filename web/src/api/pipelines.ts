/** The pipelines: small model calls around a chat. */
import { call } from "./http.ts";

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
  /** What was written, or why nothing was. */
  detail?: string;
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
  model?: string;
}

/** What is set for the pipelines under other names, as far as it is changed from here. */
export interface TaskConfig {
  ENABLE_SEARCH_QUERY_GENERATION: boolean;
  ENABLE_RETRIEVAL_QUERY_GENERATION: boolean;
  MOA_SAMPLES: number;
  MOA_LAYERS: number;
}

/** Most answers of one model at a time, and most layers of them. */
export const mostSamples = 8;
export const mostLayers = 3;

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

/** How a text goes on that is being written; empty where it does not. */
export async function complete(model: string, prompt: string, signal: AbortSignal): Promise<string> {
  const answer = await call<{ choices: { message: { content: string } }[] }>(
    "POST",
    `${v1}/tasks/auto/completions`,
    { model, prompt, type: "chat" },
    signal,
  );
  const said = JSON.parse(answer.choices[0]?.message.content ?? "{}") as { text?: unknown };
  return typeof said.text === "string" ? said.text : "";
}
