/** Search filters: file kind by extension, part of the name, upload date, tags and metadata. */
import type { SearchFilter } from "../../api/knowledge.ts";
import { metadataFilter, tagsOf, type WantedMetadata } from "./metadata.ts";

const endings = {
  pdf: ["pdf"],
  word: ["docx", "docm", "doc", "odt", "rtf"],
  slides: ["pptx", "pptm", "ppt", "odp"],
  tables: ["xlsx", "xlsm", "xls", "ods", "csv", "tsv"],
  pages: ["html", "htm", "xhtml", "mht", "mhtml"],
  mail: ["eml", "msg"],
  text: ["md", "markdown", "txt", "rst"],
  pictures: ["png", "jpg", "jpeg", "webp", "gif"],
};

export type Kind = keyof typeof endings;
export const kinds = Object.keys(endings) as Kind[];

/** The filters as in the URL; dates are written as 2026-01-31. */
export interface Wanted extends WantedMetadata {
  kind: string | null;
  name: string | null;
  since: string | null;
  until: string | null;
  tags: string | null;
}

/** Converts the filters to a search request. Unknown values are ignored. */
export function narrowed(wanted: Wanted): SearchFilter {
  const kind = kinds.find((kind) => kind === wanted.kind);
  const name = wanted.name?.trim();
  const tags = tagsOf(wanted.tags ?? "");
  const metadata = metadataFilter(wanted);
  const [since, until] = [momentOf(wanted.since, "00:00"), momentOf(wanted.until, "23:59:59.999")];
  return {
    ...(kind ? { types: endings[kind] } : {}),
    ...(name ? { name } : {}),
    ...(Number.isFinite(since) ? { since } : {}),
    ...(Number.isFinite(until) ? { until } : {}),
    ...(tags.length > 0 ? { tags } : {}),
    ...(metadata ? { metadata } : {}),
  };
}

/** Timestamp of the date in the user's time zone. */
function momentOf(day: string | null, time: string): number {
  return /^\d{4}-\d\d-\d\d$/.test(day ?? "") ? Date.parse(`${day}T${time}`) : NaN;
}
