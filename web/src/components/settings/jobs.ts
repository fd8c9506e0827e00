/** How the background jobs are put into words. */
import type { Job } from "../../api/jobs.ts";
import { en } from "../../i18n/en.ts";
import { formatAgo } from "../../i18n/format.ts";
import { t, type Key } from "../../i18n/index.svelte.ts";

/** The name in words where this page knows it: a newer server may have more jobs. */
export function nameOf({ name }: Job): string {
  const key = `job.${name}`;
  return key in en ? t(key as Key) : name;
}

export function lastRunOf({ running_since, last_run }: Job, now: number): string {
  if (last_run) return formatAgo(last_run.finished_at, now);
  return t(running_since === null ? "jobs.never" : "jobs.running");
}

/** A time that has come already is now: the page is a little behind. A job with an interval and no next run has ended. */
export function nextRunOf({ every_ms, running_since, next_run_at }: Job, now: number): string {
  if (running_since !== null) return t("jobs.running");
  if (next_run_at === null) return every_ms === null ? t("jobs.onDemand") : "–";
  return formatAgo(Math.max(next_run_at, now), now);
}

/** What is wrong now, or what was before. */
export function problemOf({ failures_in_row, last_failure }: Job, now: number): string | null {
  if (!last_failure) return null;
  const { at, error } = last_failure;
  return failures_in_row > 0
    ? t("jobs.failing", { error })
    : t("jobs.failed", { error, when: formatAgo(at, now) });
}
