/** Which pages of a document a passage is on. */
import type { Structure } from "../../api/knowledge.ts";
import type { Span } from "./blocks.ts";
import { lettersOf } from "./passage.ts";
import { indexesOf } from "./places.ts";

/** The part of a passage that is on one page. */
export interface PagePassage {
  page: number;
  text: string;
  /** How many letters and digits of the page are before it. */
  at: number;
}

/** A passage by pages. Of a document without known pages, all of it is on the first. */
export function passagesByPage(text: string, structure: Structure | null, found: Span | null): PagePassage[] {
  if (!found) return [];
  const pages = structure?.pages ?? [];
  const starts = indexesOf(text, pages.map((page) => page.start), "bytes"); // prettier-ignore
  if (pages.length === 0) return [{ page: 1, text: text.slice(found.start, found.end), at: 0 }];
  return pages.flatMap(({ number }, index) => {
    const start = starts[index] ?? 0;
    const end = starts[index + 1] ?? text.length;
    const [from, to] = [Math.max(found.start, start), Math.min(found.end, end)];
    if (from >= to || lettersOf(text.slice(from, to)) === "") return [];
    return [{ page: number, text: text.slice(from, to), at: lettersOf(text.slice(start, from)).length }];
  });
}

/** The page and the headings that a passage is under. */
export function placeOf(
  text: string,
  structure: Structure | null,
  found: Span,
): { page: number | null; headings: string[] } {
  const pages = structure?.pages ?? [];
  const headings = structure?.headings ?? [];
  const pageStarts = indexesOf(text, pages.map((page) => page.start), "bytes"); // prettier-ignore
  const headingStarts = indexesOf(text, headings.map((heading) => heading.span.start), "bytes"); // prettier-ignore
  const page = pages[pageStarts.findLastIndex((start) => start <= found.start)]?.number ?? null;
  const path: { level: number; title: string }[] = [];
  headings.forEach(({ level, title }, index) => {
    if ((headingStarts[index] ?? 0) > found.start) return;
    while ((path.at(-1)?.level ?? 0) >= level) path.pop();
    path.push({ level, title });
  });
  return { page, headings: path.map((heading) => heading.title) };
}
