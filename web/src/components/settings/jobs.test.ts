/** Formatting of background jobs. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Job } from "../../api/jobs.ts";
import { en } from "../../i18n/en/dictionary.ts";
import { lastRunOf, nameOf, nextRunOf, problemOf } from "./jobs.ts";

const now = 1_700_000_000_000;
const idle: Job = {
  name: "purge_expired",
  every_ms: 3_600_000,
  running_since: null,
  last_run: { started_at: now - 61_000, finished_at: now - 60_000, duration_ms: 1000 },
  runs: 1,
  failures: 0,
  failures_in_row: 0,
  last_failure: null,
  next_run_at: now + 2 * 3_600_000,
};

test("every job of the server has a name in words", () => {
  const rows = ["app/jobs.rs", "http/mcp.rs"].flatMap((file) => {
    const source = readFileSync(`../crates/server/src/${file}`, "utf8");
    return [...source.matchAll(/\bjob\(\s*"(\w+)"/g)].map(([, name]) => `job.${name}`);
  });
  expect(rows.length).toBeGreaterThan(20);
  expect(Object.keys(en).filter((key) => key.startsWith("job."))).toEqual(rows);
});

test("a job of a newer server keeps its own name", () => {
  expect(nameOf({ ...idle, name: "count_stars" })).toBe("count_stars");
  expect(nameOf(idle)).toBe("Delete expired data");
});

test("times are told from now on", () => {
  expect(lastRunOf(idle, now)).toBe("1 min. ago");
  expect(nextRunOf(idle, now)).toBe("in 2 hr.");
  expect(nextRunOf({ ...idle, next_run_at: now - 5000 }, now)).toBe("now");
  expect(nextRunOf({ ...idle, next_run_at: null }, now)).toBe("–");
  expect(nextRunOf({ ...idle, every_ms: null, next_run_at: null }, now)).toBe("On demand");
  const first = { ...idle, last_run: null, next_run_at: null };
  expect(lastRunOf(first, now)).toBe("Not yet");
  expect(lastRunOf({ ...first, running_since: now }, now)).toBe("Running");
  expect(nextRunOf({ ...idle, running_since: now }, now)).toBe("Running");
});

test("an error stays visible after the job works again", () => {
  const last_failure = { at: now - 120_000, error: "no answer" };
  expect(problemOf(idle, now)).toBeNull();
  expect(problemOf({ ...idle, failures_in_row: 2, last_failure }, now)).toBe("Failing: no answer");
  expect(problemOf({ ...idle, last_failure }, now)).toBe("Last error, 2 min. ago: no answer");
});
