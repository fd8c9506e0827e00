/** Names of search providers in the language of the page. */
import type { SearchKind } from "../../../api/types.ts";
import { t } from "../../../i18n/index.svelte.ts";
import { serviceNames } from "./providers.ts";

/** The name of a kind of search provider. */
export const nameOf = (kind: SearchKind): string =>
  serviceNames[kind] ?? t(kind === "own" ? "webSearch.own" : "webSearch.mcp");
