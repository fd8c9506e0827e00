/** Splits a document's text for rendering: pages, headings, and text blocks small enough for separate layout. */
import type { Structure } from "../../api/knowledge.ts";
import { lineInWords } from "./markdown.ts";
import { indexesOf } from "./places.ts";

export interface Span {
  start: number;
  end: number;
}

export type Block =
  | { kind: "page"; number: number }
  | { kind: "heading"; id: string; depth: number; text: string; isFound: boolean }
  | TextBlock;

export interface TextBlock {
  kind: "text";
  span: Span;
  isOwnParagraph: boolean;
  /** Markdown that an earlier block began and this one continues: the head of a table, the fence of code. */
  lead: string;
}

/** Target size of a block in characters, if lines allow it. */
const blockLength = 4000;

/** Converts a passage in Unicode characters to a span of the string; `null` if there is none. */
export function foundIn(text: string, from: number | null, to: number | null): Span | null {
  if (from === null || to === null || to <= from) return null;
  const [start = 0, end = 0] = indexesOf(text, [from, to], "characters");
  return start < end ? { start, end } : null;
}

/** Normalizes heading levels, so that none is skipped. */
function depths(levels: number[]): number[] {
  let above = 1;
  return levels.map((level) => (above = Math.min(level + 1, above + 1, 6)));
}

interface Heading {
  level: number;
  span: Span;
}

/** Blocks of a document's text with its known structure. */
export function blocksOf(text: string, structure: Structure | null, found: Span | null): Block[] {
  const headings = structure?.headings ?? [];
  const starts = indexesOf(text, headings.map((heading) => heading.span.start), "bytes"); // prettier-ignore
  const ends = indexesOf(text, headings.map((heading) => heading.span.end), "bytes"); // prettier-ignore
  const placed = headings.map(({ level }, index) => ({
    level,
    span: { start: starts[index] ?? 0, end: ends[index] ?? 0 },
  }));
  return laidOut(text, placed, structure?.pages ?? [], found, beginOf(text, found));
}

/** Maximum length of front matter in characters. */
const frontMatterLength = 65_536;

/** The end of YAML front matter, which is shown as metadata, unless a passage of it is shown. */
function beginOf(text: string, found: Span | null): number {
  const [whole] =
    /^---[ \t]*\n[\w-]+:[^]*?\n(?:---|\.\.\.)[ \t]*(?:\n|$)/.exec(text.slice(0, frontMatterLength)) ?? [];
  const end = whole?.length ?? 0;
  return found && found.start < end ? 0 : end;
}

/** Blocks of a Markdown text without further structure, such as a stored web page. */
export function markdownBlocksOf(text: string, found: Span | null): Block[] {
  const headings: Heading[] = [];
  let isCode = false;
  for (const line of text.matchAll(/^ {0,3}(?:(```|~~~)|(#{1,6})[ \t]+\S).*$/gm)) {
    const [whole, fence, marks] = line;
    if (fence) isCode = !isCode;
    else if (!isCode) {
      headings.push({
        level: marks?.length ?? 1,
        span: { start: line.index, end: line.index + whole.length },
      });
    }
  }
  return laidOut(text, headings, [], found, 0);
}

function laidOut(
  text: string,
  headings: Heading[],
  pages: Structure["pages"],
  found: Span | null,
  begin: number,
): Block[] {
  const turns = indexesOf(text, pages.map((page) => page.start), "bytes"); // prettier-ignore
  const depth = depths(headings.map((heading) => heading.level));
  const blocks: Block[] = [];
  let at = begin;
  let page = 0;
  const textUntil = (end: number) => {
    for (; page < pages.length && (turns[page] ?? 0) <= end; page += 1) {
      blocks.push(...paragraphs(text, { start: at, end: turns[page] ?? at }));
      blocks.push({ kind: "page", number: pages[page]?.number ?? 0 });
      at = Math.max(at, turns[page] ?? at);
    }
    blocks.push(...paragraphs(text, { start: at, end }));
    at = Math.max(at, end);
  };
  headings.forEach(({ span }, index) => {
    if (span.start < at) return;
    textUntil(span.start);
    blocks.push({
      kind: "heading",
      id: headingId(index),
      depth: depth[index] ?? 2,
      text: withoutMarks(text.slice(span.start, span.end)),
      isFound: found !== null && span.start < found.end && found.start < span.end,
    });
    at = span.end;
  });
  textUntil(text.length);
  return blocks;
}

export const headingId = (index: number) => `heading-${index + 1}`;

/** A Markdown heading without its syntax. */
const withoutMarks = (line: string) => lineInWords(line.replace(/\s+#*\s*$/, ""));

/** Splits a span of the text into blocks, trimming empty lines. */
function paragraphs(text: string, { start, end }: Span): Block[] {
  const blocks: Block[] = [];
  let isOwnParagraph = true;
  let lead = "";
  while (start < end) {
    const { until, isBlank } = cutOf(text, start, end);
    const span = trimmed(text, { start, end: until });
    if (span.start < span.end) blocks.push({ kind: "text", span, isOwnParagraph, lead });
    lead = leadAfter(text.slice(start, until), lead);
    isOwnParagraph = isBlank;
    start = until;
  }
  return blocks;
}

/** What the block after this one continues. */
function leadAfter(block: string, lead: string): string {
  let fence = /^ {0,3}(?:```|~~~)/.test(lead) ? lead : "";
  for (const [line, marks] of block.matchAll(/^ {0,3}(`{3,}|~{3,}).*$/gm)) {
    if (fence === "") fence = `${line}\n`;
    else if (fence.trimStart().startsWith(marks ?? "")) fence = "";
  }
  if (fence !== "") return fence;
  const rows = /(?:^|\n)((?:[ \t]*\|[^\n]*\n)+)$/.exec(block)?.[1];
  if (rows === undefined) return "";
  const head = /^[^\n]*\n[ \t]*\|[ \t:|-]*\n/.exec(rows)?.[0];
  // The rows of a table that an earlier block began.
  return head ?? (rows.length === block.length ? lead : "");
}

/** Where a block ends: at a nearby empty line, else at a line break, else at the target size. */
function cutOf(text: string, start: number, end: number): { until: number; isBlank: boolean } {
  if (end - start <= blockLength) return { until: end, isBlank: true };
  const part = text.slice(start, Math.min(end, start + 2 * blockLength));
  const blank = part.indexOf("\n\n", blockLength);
  if (blank >= 0) return { until: start + blank + 2, isBlank: true };
  const line = part.indexOf("\n", blockLength);
  if (line >= 0) return { until: start + line + 1, isBlank: false };
  const until = start + part.length;
  // Do not split a surrogate pair.
  const isSplit = /[\ud800-\udbff]/.test(text[until - 1] ?? "") && until < end;
  return { until: isSplit ? until - 1 : until, isBlank: false };
}

function trimmed(text: string, { start, end }: Span): Span {
  while (start < end && (text[start] === "\n" || text[start] === "\r")) start += 1;
  while (start < end && /\s/.test(text[end - 1] ?? "")) end -= 1;
  return { start, end };
}

/** Splits a block into the parts before, inside and after the found passage. */
export function partsOf(text: string, { start, end }: Span, found: Span | null): [string, string, string] {
  const from = Math.min(Math.max(found?.start ?? end, start), end);
  const to = Math.min(Math.max(found?.end ?? end, from), end);
  return [text.slice(start, from), text.slice(from, to), text.slice(to, end)];
}
