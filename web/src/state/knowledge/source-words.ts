/** The state of a source in words. */
import type { DocumentSource, Sync, SyncLog } from "../../api/schema.ts";
import { formatAgo } from "../../i18n/format.ts";
import { said, t, type Key } from "../../i18n/index.svelte.ts";

const between = " · ";

/** What a synchronization has changed: `3 new · 1 deleted`; empty if nothing. */
export function changeWords(sync: Sync | SyncLog): string {
  const counts = (["added", "updated", "deleted", "failed"] as const).filter((name) => sync[name] > 0);
  return counts.map((name) => t(`source.count.${name}`, { count: sync[name] })).join(between);
}

/** How a synchronization stands or ended. */
export function syncWords(sync: Sync | SyncLog, now: number): string {
  const when = formatAgo(sync.ended_at ?? sync.updated_at, now);
  switch (sync.state) {
    case "running": {
      const done = sync.added + sync.updated + sync.failed;
      const count = done + sync.missing;
      // Until the documents are listed, there is nothing to count.
      return count === 0 ? t("source.listing") : t("source.receiving", { done, count });
    }
    case "waiting":
      return t("source.waiting", { count: sync.unlisted });
    case "failed":
      return t("source.failed", { when, why: sync.problem ? said(sync.problem) : "" });
    case "kept":
      return [t("source.kept", { when, count: sync.unlisted }), changeWords(sync)]
        .filter((words) => words !== "")
        .join(between);
    case "cancelled":
      return [t("source.stopped", { when }), changeWords(sync)].filter((words) => words !== "").join(between);
    case "done":
      return `${t("source.done", { when })}${between}${changeWords(sync) || t("source.count.none")}`;
  }
}

/** When a source is synchronized next; empty for one whose documents a program sends. */
export function nextWords(source: DocumentSource, now: number): string {
  if (source.settings === null || source.latest?.state === "running") return "";
  if (source.next_at === null) return t("source.everyHand");
  return t("source.next", { when: formatAgo(Math.max(source.next_at, now), now) });
}

/** The intervals that are offered, minutes; `null` is by hand. */
const intervals: [number | null, Key][] = [
  [15, "source.every15"],
  [60, "source.every60"],
  [360, "source.every360"],
  [1440, "source.every1440"],
  [10_080, "source.every10080"],
  [null, "source.everyHand"],
];

/** The intervals to choose from, with `current` if it is another one, which was set through the API. */
export function intervalChoices(current: number | null): { minutes: number | null; words: string }[] {
  const choices = intervals.map(([minutes, key]) => ({ minutes, words: t(key) }));
  if (choices.some(({ minutes }) => minutes === current)) return choices;
  return [{ minutes: current, words: t("source.everyOther", { minutes: current ?? 0 }) }, ...choices];
}
