/** How many models can answer, and where they come from if that is one place. */
import type { Connection } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import type { Models } from "./models.svelte.ts";

/** `connections` may be empty: only administrators know them. Empty text without any model. */
export function readyModels(models: Models, connections: readonly Connection[]): string {
  const count = models.answering.filter(({ tour }) => !tour).length;
  if (count === 0) return "";
  const sources = new Set(connections.filter(({ models }) => models.length > 0).map(({ source }) => source));
  const [source] = sources.size === 1 ? sources : [];
  if (source === "environment") return t("empty.readyFromEnvironment", { count });
  if (source === "file") return t("empty.readyFromFile", { count });
  return t("empty.ready", { count });
}
