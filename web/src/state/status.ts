/** What a run says of itself in fixed words, in the reader's language. */
import { t } from "../i18n/index.svelte.ts";

export function statusWords(status: string): string {
  if (status === "Planning…") return t("research.planning");
  if (status === "Writing the report…") return t("research.writing");
  if (status === "Looking for what to search…") return t("research.lookingFor");
  const [, number, of] = /^(?:Searching|Reading) (\d+) (quer|page)(?:y|ies|s)?…$/.exec(status) ?? [];
  if (of === "quer") return t("research.searchingQueries", { count: Number(number) });
  if (of === "page") return t("research.readingPages", { count: Number(number) });
  const [, turn, searches, count] =
    /^Turn (\d+) - (?:(Searching…)|Reading (\d+) sources?…)$/.exec(status) ?? [];
  if (turn && searches) return t("research.searching", { turn: Number(turn) });
  if (turn && count) return t("research.reading", { turn: Number(turn), count: Number(count) });
  const [, layer, layers] = /^Layer (\d+) of (\d+): \d+ answers…$/.exec(status) ?? [];
  if (layer && layers) return t("beside.layer", { layer: Number(layer), layers: Number(layers) });
  return status;
}
