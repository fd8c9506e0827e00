/** Sources of an answer: which are cited, and their URLs. */
import { withBase } from "../api/base.ts";
import type { Source } from "../api/events.ts";
import { citedNumbers } from "../citation-marks.ts";
import { withStatement } from "./fitting.ts";
import { isMarkdown } from "./knowledge/formats.ts";
import { inOneLine, lineInWords } from "./knowledge/markdown.ts";

/** Removes duplicates: the last source with a number wins. */
export function known(sources: readonly Source[]): Source[] {
  return [...new Map(sources.map((source) => [source.id, source])).values()];
}

/** Citation numbers in a text, without duplicates, in order of first occurrence. */
export function citedIn(text: string): string[] {
  return citedNumbers(text).map(String);
}

/** The sources that a text cites, in their own order. */
export function citedOf(text: string, sources: readonly Source[]): Source[] {
  const cited = new Set(citedIn(text));
  return known(sources).filter((source) => cited.has(source.id));
}

/** The same sources, with the citing run added to links to stored pages, so that readers of the run can open them. */
export function besideRun(sources: readonly Source[], run: string): Source[] {
  return sources.map((source) => {
    const copy = source.copy;
    if (!copy?.startsWith("/pages/")) return source;
    return { ...source, copy: `${copy}${copy.includes("?") ? "&" : "?"}run=${encodeURIComponent(run)}` };
  });
}

/** Whether the quote was checked word for word. Others are passages of a search, of which a part is cited. */
export const isExact = (source: Source): boolean => source.verified !== undefined;

/**
 * URL of the stored copy, else the source's own URL; `null` if that is not a safe link. A passage is opened where it fits
 * the statement that cites it.
 */
export function addressOf(source: Source, statement = ""): string | null {
  const at = (path: string) => withBase(isExact(source) ? path : withStatement(path, statement));
  if (source.copy && /^\/(?!\/)/.test(source.copy)) return at(source.copy);
  if (/^\/(?!\/)/.test(source.url)) return at(source.url);
  return /^https?:\/\//.test(source.url) ? source.url : null;
}

/** A quote as one line of plain text. Stored pages are Markdown: its syntax and a repeated title are removed. */
export function quoteOf(source: Source): string {
  const quote = source.quote ?? "";
  if (!source.copy?.startsWith("/pages/") && !isMarkdown(source.title)) return inOneLine(quote);
  const lines = quote.split("\n").map(lineInWords);
  const isTitle = (line: string) => line === inOneLine(source.title);
  const said = lines.filter((line, place) => line !== "" && !(isTitle(line) && place < lines.length - 1));
  return said.join(" ");
}

/** A passage of the named document as plain text, keeping its lines. Code is unchanged. */
export function passageInWords(passage: string, name: string): string {
  if (!isMarkdown(name)) return passage.trim();
  let isCode = false;
  // Front matter, which is shown as the metadata of its document.
  const text = passage.replace(/^---\n(?:[^\s:#-][^:\n]*:.*\n|[ \t].*\n|- .*\n)*---\n/, "");
  const lines = text.split("\n").flatMap((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) isCode = !isCode;
    if (isFence) return [];
    return [isCode ? line : lineInWords(line)];
  });
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
