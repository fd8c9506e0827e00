/** API types for models, agents and model connections, under the names this app uses. */
import type { Agent, Model, ModelParameters, ReasoningEffort } from "./schema.ts";

export type {
  ModelAbilities as Abilities,
  AgentChoice,
  AgentLimits,
  AgentList,
  Connection,
  ConnectionChange,
  ConnectionFailure as Failure,
  ConnectionKey,
  ConnectionTest as ConnectionTried,
  DefinedAgent,
  FoundServer,
  ListedModel,
  Model,
  ModelList,
  ModelParameters,
  ModelPrice,
  Parameter,
  ProviderSettings,
  ReasoningEffort,
  RefusedParameter,
  ToolMode,
} from "./schema.ts";

/** Reasoning effort levels in ascending order. */
export const efforts = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
] as const satisfies readonly ReasoningEffort[];

/** An agent as an administrator defines it. */
export type AgentDefinition = Agent & Required<Pick<Agent, "limits" | "may_be_called" | "enabled">>;

/** What an administrator sets for a model. */
export type ModelSettings = ModelParameters &
  Pick<
    Model,
    | "tool_mode"
    | "unsupported_parameters"
    | "context_tokens"
    | "input_usd_per_million"
    | "output_usd_per_million"
    | "cached_input_usd_per_million"
    | "cache_write_usd_per_million"
    | "audio_input_usd_per_million"
    | "audio_output_usd_per_million"
    | "fallbacks"
  >;

/** API format of a model server. */
export type ProviderKind =
  "openai" | "openai_responses" | "anthropic" | "gemini" | "vertex" | "bedrock" | "azure";
