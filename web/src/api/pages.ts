/** Stored copies of web pages that an agent has read. */
import { call } from "./http.ts";
import type { StoredPage } from "./schema.ts";

export type { StoredPage };

/** `run` is a run that cites the page; readers of that run can read the page. */
export const getPage = (page: string, run: string | null, signal?: AbortSignal) =>
  call<StoredPage>(
    "GET",
    `/api/v1/pages/${encodeURIComponent(page)}${run === null ? "" : `?run=${encodeURIComponent(run)}`}`,
    undefined,
    signal,
  );
