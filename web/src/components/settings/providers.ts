/** Model providers: presets for new connections, and the fields of each kind of connection. */
import type { ProviderKind, ProviderSettings } from "../../api/types.ts";

export type ProviderSetting = keyof ProviderSettings;
export type ConnectionField = "kind" | "base_url" | "api_key" | "name" | ProviderSetting;

export interface Preset {
  id: string;
  /** Also the name of the connection; empty for a custom server. */
  name: string;
  kind: ProviderKind;
  /** Empty if the user must enter it, or if it follows from the settings. */
  baseUrl: string;
  /** URL where the user gets an API key. */
  keyUrl?: string;
  /** Connecting works without a key. */
  keyOptional?: boolean;
}

export const kindNames: Record<ProviderKind, string> = {
  openai: "OpenAI Chat Completions",
  openai_responses: "OpenAI Responses",
  anthropic: "Anthropic Messages",
  gemini: "Google Gemini",
  vertex: "Google Vertex AI",
  bedrock: "Amazon Bedrock",
  azure: "Azure OpenAI",
};

export const kinds = Object.keys(kindNames) as ProviderKind[];

const settings: Partial<Record<ProviderKind, { needed: ProviderSetting[]; optional: ProviderSetting[] }>> = {
  bedrock: { needed: ["region"], optional: ["profile"] },
  vertex: { needed: ["project", "location"], optional: [] },
  azure: { needed: [], optional: ["api_version"] },
};

export const settingsOf = (kind: ProviderKind): ProviderSetting[] => {
  const { needed = [], optional = [] } = settings[kind] ?? {};
  return [...needed, ...optional];
};

/** Kinds without a default base URL. */
const needsAddress = (kind: ProviderKind) => kind === "openai" || kind === "azure";

export const other: Preset = { id: "other", name: "", kind: "openai", baseUrl: "", keyOptional: true };

export const presets: Preset[] = [
  {
    id: "openai",
    name: "OpenAI",
    kind: "openai",
    baseUrl: "https://api.openai.com/v1",
    keyUrl: "https://platform.openai.com/api-keys",
  },
  {
    id: "anthropic",
    name: "Anthropic",
    kind: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keyUrl: "https://console.anthropic.com/settings/keys",
  },
  {
    id: "gemini",
    name: "Google Gemini",
    kind: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta",
    keyUrl: "https://aistudio.google.com/apikey",
  },
  {
    id: "azure",
    name: "Azure OpenAI",
    kind: "azure",
    baseUrl: "",
    keyUrl: "https://ai.azure.com",
  },
  {
    id: "bedrock",
    name: "Amazon Bedrock",
    kind: "bedrock",
    baseUrl: "",
    keyUrl: "https://console.aws.amazon.com/bedrock/home#/api-keys",
    keyOptional: true,
  },
  {
    id: "openrouter",
    name: "OpenRouter",
    kind: "openai",
    baseUrl: "https://openrouter.ai/api/v1",
    keyUrl: "https://openrouter.ai/settings/keys",
  },
  {
    id: "deepseek",
    name: "DeepSeek",
    kind: "openai",
    baseUrl: "https://api.deepseek.com/v1",
    keyUrl: "https://platform.deepseek.com/api_keys",
  },
  {
    id: "mistral",
    name: "Mistral",
    kind: "openai",
    baseUrl: "https://api.mistral.ai/v1",
    keyUrl: "https://console.mistral.ai/api-keys",
  },
  {
    id: "groq",
    name: "Groq",
    kind: "openai",
    baseUrl: "https://api.groq.com/openai/v1",
    keyUrl: "https://console.groq.com/keys",
  },
  {
    id: "ollama",
    name: "Ollama",
    kind: "openai",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyOptional: true,
  },
  other,
];

/** Splits the fields into those the user must review, and those that are prefilled or rarely needed. */
export function fieldsOf(
  preset: Preset,
  kind: ProviderKind,
): { main: ConnectionField[]; more: ConnectionField[] } {
  const { needed = [], optional = [] } = settings[kind] ?? {};
  if (preset.id === other.id) {
    return { main: ["kind", "base_url", ...needed, ...optional, "api_key", "name"], more: [] };
  }
  if (preset.id === "ollama") return { main: ["base_url"], more: ["api_key", "name"] };
  if (preset.id === "azure") return { main: ["base_url", "api_key"], more: ["name", ...optional] };
  return { main: [...needed, "api_key"], more: ["name", "base_url", ...optional] };
}

/** Whether all required fields are filled in. */
export function isComplete(
  preset: Preset,
  kind: ProviderKind,
  values: Record<ConnectionField, string>,
): boolean {
  const needed: ConnectionField[] = [...(settings[kind]?.needed ?? [])];
  if (needsAddress(kind)) needed.push("base_url");
  if (!preset.keyOptional) needed.push("api_key");
  return needed.every((field) => values[field].trim() !== "");
}

/** The non-empty settings that apply to the kind. */
export function writtenSettings(
  kind: ProviderKind,
  values: Record<ProviderSetting, string>,
): ProviderSettings {
  const written = settingsOf(kind).filter((name) => values[name].trim() !== "");
  return Object.fromEntries(written.map((name) => [name, values[name].trim()]));
}
