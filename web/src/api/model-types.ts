/** What the API says of models, agents and connections to model servers. */
import type { Words } from "./events.ts";

export type ToolMode = "native" | "schema" | "prompt" | "off";

/** Levels of reasoning, from none to much. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;
export type ReasoningEffort = (typeof efforts)[number];

/** What is set for model calls; null leaves it to the layer below. */
export interface ModelParameters {
  system_prompt: string | null;
  temperature: number | null;
  top_p: number | null;
  max_output_tokens: number | null;
  stop: string[] | null;
  seed: number | null;
  reasoning_effort: ReasoningEffort | null;
}

/** A parameter that not every model takes. */
export type Parameter = Exclude<keyof ModelParameters, "system_prompt">;

export interface ModelSettings extends ModelParameters {
  tool_mode: ToolMode;
  /** Those that it does not take; null for what its servers and its name tell. */
  unsupported_parameters: Parameter[] | null;
  context_tokens: number | null;
  input_usd_per_million: number | null;
  output_usd_per_million: number | null;
  cached_input_usd_per_million: number | null;
  cache_write_usd_per_million: number | null;
  audio_input_usd_per_million: number | null;
  audio_output_usd_per_million: number | null;
  /** The models to ask where its server fails, by their ids. */
  fallbacks: string[];
}

/** A parameter that the servers of a model have refused; of the reasoning effort the level. */
export interface RefusedParameter {
  parameter: Parameter;
  reasoning_effort?: ReasoningEffort;
}

/** What a model can do, as far as its server says. */
export interface Abilities {
  vision?: boolean;
  audio?: boolean;
  pdf?: boolean;
  tools?: boolean;
  structured_output?: boolean;
  reasoning?: boolean;
  reasoning_efforts?: string[];
  unsupported_parameters?: Parameter[];
}

/** What the servers of a model say of it. */
export interface ListedModel {
  display_name: string | null;
  context_tokens: number | null;
  max_output_tokens: number | null;
  abilities: Abilities;
}

/** What a model costs: what was set, and for the rest the price list. */
export interface ModelPrice {
  input_usd_per_million: number;
  output_usd_per_million: number;
  cached_input_usd_per_million: number | null;
  cache_write_usd_per_million: number | null;
  audio_input_usd_per_million: number | null;
  audio_output_usd_per_million: number | null;
  long_context_above_tokens: number | null;
  source: "settings" | "catalogue";
  list?: { source: string; date: string; provider: string; model: string };
}

export interface Model extends ModelSettings {
  id: string;
  name: string;
  connection: string | null;
  /** All who serve it together. */
  connections: string[];
  tour: boolean;
  listed: ListedModel;
  /** Null if nobody knows it. */
  price: ModelPrice | null;
  /** What its servers have refused since the program was started; administrators are told. */
  refused_parameters?: RefusedParameter[];
}

/** A defined agent that is chosen like a model. */
export interface AgentChoice {
  id: string;
  name: string;
  description: string;
  /** Its own model. */
  model?: string;
}

export interface ModelList {
  models: Model[];
  default_model: string | null;
  agents: AgentChoice[];
}

export interface AgentLimits {
  steps?: number;
  tokens?: number;
  usd?: number;
  minutes?: number;
}

/** An agent as an administrator defines it. Of the lists, none means all. */
export interface AgentDefinition {
  name: string;
  description: string;
  instructions: string;
  model?: string;
  parameters?: Partial<ModelParameters>;
  tools?: string[];
  sub_agents?: string[];
  skills?: string[];
  /** The names of the collections of documents that it searches. */
  collections?: string[];
  limits: AgentLimits;
  may_be_called: boolean;
  enabled: boolean;
}

export interface DefinedAgent extends AgentDefinition {
  from_file: boolean;
  warnings: string[];
}

export interface AgentList {
  agents: DefinedAgent[];
  /** All tools that there are now. */
  tools: string[];
  skills_folder: string;
  skills: { name: string; description: string; files: number }[];
  broken_skills: { name: string; problem: Words }[];
}

/** What went wrong last, and how long ago. */
export interface Failure extends Words {
  ago_ms: number;
}

export interface ConnectionKey {
  /** Nothing where it comes from the environment. */
  id: string | null;
  /** Its last four characters, where it is long enough to show them. */
  ending: string | null;
  weight: number;
  readable: boolean;
  uses: number;
  /** How long it is still passed over. */
  rests_ms: number | null;
  last_failure: Failure | null;
}

/** The format of a model server's API. */
export type ProviderKind =
  "openai" | "openai_responses" | "anthropic" | "gemini" | "vertex" | "bedrock" | "azure";

/** What some kinds need beside address and key. */
export interface ProviderSettings {
  region?: string;
  profile?: string;
  api_version?: string;
  project?: string;
  location?: string;
}

export interface Connection {
  id: string;
  name: string;
  kind: ProviderKind;
  base_url: string;
  settings: ProviderSettings;
  /** The names of the headers and query parameters that are sent with every request. */
  headers: string[];
  query: string[];
  keys: ConnectionKey[];
  /** Who has set it up: only those of the settings can be changed here. */
  source: "settings" | "file" | "environment";
  from_environment: boolean;
  /** Whether the server is told who asks. */
  trusted: boolean;
  /** How many of the requests it gets; 0 for one that is asked only in need. */
  weight: number;
  enabled: boolean;
  /** Whether it serves models of the same name together with others. */
  together: boolean;
  models: string[];
  problem: Words | null;
  state: {
    breaker: "closed" | "open" | "half_open";
    open_ms: number | null;
    failures_in_row: number;
    last_failure: Failure | null;
  };
}

export type ConnectionChange = Partial<
  Pick<Connection, "name" | "kind" | "base_url" | "settings" | "trusted" | "weight" | "enabled" | "together">
>;

/** What came of trying a connection. */
export interface ConnectionTried {
  models: number | null;
  problem: Words | null;
  took_ms: number;
  keys: { id: string | null; problem: Words | null }[];
  answer: { text: string; problem: Words | null; took_ms: number } | null;
}

export interface FoundServer {
  kind: "ollama" | "llama.cpp" | "lm-studio" | "vllm" | "unknown";
  name: string;
  base_url: string;
  models: string[];
}
