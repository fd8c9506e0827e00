/** Copies of pages of the web, as they were read for an agent. */
import { call } from "./http.ts";
import type { StoredPage } from "./schema.ts";

export type { StoredPage };

/** `run` names a run that cites it, for those who may read that run. */
export const getPage = (page: string, run: string | null, signal?: AbortSignal) =>
  call<StoredPage>(
    "GET",
    `/api/v1/pages/${encodeURIComponent(page)}${run === null ? "" : `?run=${encodeURIComponent(run)}`}`,
    undefined,
    signal,
  );
