/** Search providers in the form: the values as typed, and the request that they mean. */
import type { SearchKind, SearchProvider, SearchProviderChange } from "../../../api/types.ts";
import { t } from "../../../i18n/index.svelte.ts";

export const searchKinds: readonly SearchKind[] = ["searxng", "brave", "tavily", "mcp", "own"];

/** Names of services are not translated. */
const serviceNames: Partial<Record<SearchKind, string>> = {
  searxng: "SearXNG",
  brave: "Brave Search",
  tavily: "Tavily",
};

export const nameOf = (kind: SearchKind): string =>
  serviceNames[kind] ?? t(kind === "own" ? "webSearch.own" : "webSearch.mcp");

/** Where to get a key. */
export const keyUrls: Partial<Record<SearchKind, string>> = {
  brave: "https://api-dashboard.search.brave.com/app/keys",
  tavily: "https://app.tavily.com/home",
};

export interface ProviderForm {
  kind: SearchKind;
  url: string;
  key: string;
  tool: string;
  /** Whether the server has a key, which is kept unless another is typed. */
  hasKey: boolean;
}

export const formOf = ({ kind, url, has_key, tool }: SearchProvider): ProviderForm => ({
  kind,
  url: url ?? "",
  key: "",
  tool: tool ?? "",
  hasKey: has_key,
});

export const newForm = (kind: SearchKind): ProviderForm => ({
  kind,
  url: "",
  key: "",
  tool: "",
  hasKey: false,
});

export const needsKey = (kind: SearchKind) => kind === "brave" || kind === "tavily";

export function isComplete({ kind, url, key, tool, hasKey }: ProviderForm): boolean {
  if (kind === "searxng") return url.trim() !== "";
  if (kind === "mcp") return tool.trim() !== "";
  return !needsKey(kind) || key.trim() !== "" || hasKey;
}

export const changeOf = ({ kind, url, key, tool }: ProviderForm): SearchProviderChange => ({
  kind,
  ...(url.trim() ? { url: url.trim() } : {}),
  ...(key.trim() ? { api_key: key.trim() } : {}),
  ...(tool.trim() ? { tool: tool.trim() } : {}),
});
