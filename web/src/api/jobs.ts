/** The background jobs of the server that answers. */
import { call } from "./http.ts";

export interface Job {
  name: string;
  /** Null if it runs only when it is woken. */
  every_ms: number | null;
  running_since: number | null;
  last_run: { started_at: number; finished_at: number; duration_ms: number } | null;
  /** Since the start of the server. */
  runs: number;
  failures: number;
  failures_in_row: number;
  last_failure: { at: number; error: string } | null;
  /** Unless it is woken before. */
  next_run_at: number | null;
}

export const listJobs = () => call<{ jobs: Job[] }>("GET", "/api/v1/jobs");
