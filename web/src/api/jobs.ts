/** Background jobs of the server instance that answers the request. */
import { call } from "./http.ts";
import type { Job, JobList } from "./schema.ts";

export type { Job };

export const listJobs = () => call<JobList>("GET", "/api/v1/jobs");
