/** What a run says of itself in fixed words, in the reader's language. */
import { t } from "../i18n/index.svelte.ts";

export function statusWords(status: string): string {
  if (status === "Planning…") return t("research.planning");
  if (status === "Writing the report…") return t("research.writing");
  const [, turn, searches, count] =
    /^Turn (\d+) - (?:(Searching…)|Reading (\d+) sources?…)$/.exec(status) ?? [];
  if (turn && searches) return t("research.searching", { turn: Number(turn) });
  if (turn && count) return t("research.reading", { turn: Number(turn), count: Number(count) });
  return status;
}
