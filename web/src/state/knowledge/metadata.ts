/** Tags and metadata of documents as people write them. */
import { formatCalendarDay, formatDate } from "../../i18n/format.ts";
import type { MetadataFilter, MetadataScalar, MetadataValue } from "../../api/knowledge.ts";

const tagChars = 60;

/** A filter by one key: by a part of its text, or by a range. */
export interface WantedMetadata {
  key: string | null;
  value: string | null;
  first: string | null;
  last: string | null;
}

/** Tags in a text, separated by commas. */
export function tagsOf(text: string): string[] {
  const tags = text.split(/[,;，]/).map(tagOf);
  return [...new Set(tags.filter((tag) => tag !== ""))];
}

/** A tag without `#` and double spaces. */
export const tagOf = (text: string) =>
  text.trim().replace(/^#+/, "").replace(/\s+/g, " ").trim().slice(0, tagChars);

const folded = (text: string) =>
  text
    .normalize("NFKD")
    .replace(/\p{Mn}/gu, "")
    .toLowerCase();

/** Tags that differ in case or accents only are the same. */
export const isSameTag = (one: string, other: string) => folded(one) === folded(other);

/** Whether there are all of these tags. */
export const hasTags = (tags: readonly string[], wanted: readonly string[]) =>
  wanted.every((tag) => tags.some((other) => isSameTag(tag, other)));

/** The tags of these documents, the most frequent first. */
export function tagCounts(documents: readonly { tags: string[] }[]): { tag: string; count: number }[] {
  const counts = new Map<string, { tag: string; count: number }>();
  for (const { tags } of documents) {
    for (const tag of tags) {
      const known = counts.get(folded(tag));
      if (known) known.count += 1;
      else counts.set(folded(tag), { tag, count: 1 });
    }
  }
  return [...counts.values()].sort((a, b) => b.count - a.count || a.tag.localeCompare(b.tag));
}

/** The filter for the API; `null` if there is none. */
export function metadataFilter(wanted: WantedMetadata): MetadataFilter | null {
  const key = wanted.key?.trim();
  if (!key) return null;
  const [value, from, to] = [wanted.value, wanted.first, wanted.last].map((text) => text?.trim() ?? "");
  if (from || to) return { [key]: { ...(from ? { from } : {}), ...(to ? { to } : {}) } };
  if (value === "true" || value === "false") return { [key]: value === "true" };
  return value ? { [key]: { contains: value } } : null;
}

/** A value as it is edited: several are separated by semicolons. */
export const writtenValue = (value: MetadataValue): string =>
  Array.isArray(value) ? value.map(String).join("; ") : String(value);

/** A value as it is shown: dates in the language of the page. */
export const shownValue = (value: MetadataValue): string =>
  Array.isArray(value) ? value.map(shownScalar).join("; ") : shownScalar(value);

function shownScalar(value: MetadataScalar): string {
  const text = String(value);
  if (!/^\d{4}-\d\d-\d\d(?:$|T\d\d:\d\d)/.test(text) || Number.isNaN(Date.parse(text))) return text;
  return text.includes("T") ? formatDate(Date.parse(text)) : formatCalendarDay(text);
}

/** The value of a text: numbers and yes or no in their own type, several if separated by semicolons. */
export function readValue(text: string): MetadataValue | null {
  const parts = text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(readScalar);
  return parts.length > 1 ? parts : (parts[0] ?? null);
}

function readScalar(text: string): MetadataScalar {
  if (text === "true" || text === "false") return text === "true";
  // Not what a number would change, such as 007.
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}
