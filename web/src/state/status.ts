/** What a run says of itself in fixed words, in the reader's language. */
import { t } from "../i18n/index.svelte.ts";

export function statusWords(status: string): string {
  if (status === "Thinking…") return t("turn.thinking");
  if (status === "Summing up older steps…") return t("turn.summingUp");
  if (status === "Planning…") return t("research.planning");
  if (status === "Writing the report…") return t("research.writing");
  if (status === "Looking for what to search…") return t("research.lookingFor");
  const [, seconds] = /^Asking the model again in (\d+) s…$/.exec(status) ?? [];
  if (seconds) return t("turn.askingAgain", { seconds: Number(seconds) });
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

/** What a run notes in fixed words, in the reader's language. */
export function noticeWords(notice: string): string {
  const [, verified, count] =
    /^(\d+) of (\d+) cited notes have a quote that was found word for word in the source\.$/.exec(notice) ??
    [];
  if (verified && count) return t("research.share", { verified: Number(verified), count: Number(count) });
  if (notice === "The model gave an empty answer.") return t("notice.empty");
  if (notice === "The model reached its limit on written tokens; the answer may be cut.")
    return t("notice.cut");
  if (notice === "The model wrote no report. These are the notes.") return t("notice.noReport");
  if (notice === "It ended before the report. These are the notes so far.") return t("notice.notesSoFar");
  if (notice === "The report cites none of the notes: nothing shows where it comes from.")
    return t("notice.citesNothing");
  return notice;
}
