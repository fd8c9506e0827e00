/** Formats background jobs. */
import type { Job } from "../../api/jobs.ts";
import { en } from "../../i18n/en/dictionary.ts";
import { formatAgo } from "../../i18n/format.ts";
import { t, type Key } from "../../i18n/index.svelte.ts";

/** Label of the job; falls back to its name, because a newer server may have unknown jobs. */
export function nameOf({ name }: Job): string {
  const key = `job.${name}`;
  return key in en ? t(key as Key) : name;
}

export function lastRunOf({ running_since, last_run }: Job, now: number): string {
  if (last_run) return formatAgo(last_run.finished_at, now);
  return t(running_since === null ? "jobs.never" : "jobs.running");
}

/**
 * A next run in the past is shown as now, because the page lags behind. A job with an interval and no next run has
 * ended.
 */
export function nextRunOf({ every_ms, running_since, next_run_at }: Job, now: number): string {
  if (running_since !== null) return t("jobs.running");
  if (next_run_at === null) return every_ms === null ? t("jobs.onDemand") : "–";
  return formatAgo(Math.max(next_run_at, now), now);
}

/** The current error, or the last one before recovery. */
export function problemOf({ failures_in_row, last_failure }: Job, now: number): string | null {
  if (!last_failure) return null;
  const { at, error } = last_failure;
  return failures_in_row > 0
    ? t("jobs.failing", { error })
    : t("jobs.failed", { error, when: formatAgo(at, now) });
}
