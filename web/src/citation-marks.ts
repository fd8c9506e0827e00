/**
 * Finds the citation marks of a Markdown text: `[n]` directly behind words, which is no index, interval, year or link.
 * The rules are those of `crates/domain/src/citation_marks.rs`; both are tested with the same cases.
 */

/** A citation mark, with its place in UTF-16 units. */
export interface CitationMark {
  number: number;
  start: number;
  end: number;
}

interface Range {
  start: number;
  end: number;
}

/** How far the text before a mark is looked at, in UTF-16 units. */
export const MAX_BEFORE = 200;
const MAX_MARKS = 16;
const MAX_SPACES = 3;
/** Maximum length of the backticks around a code span. */
const MAX_BACKTICKS = 32;
/** Maximum length of a link's address and title. */
const MAX_ADDRESS = 2000;

const MARK = /\[([1-9]\d{0,2})\]/y;
const MARK_AT_END = /\[[1-9]\d{0,2}\]$/;
const SPACES_AT_END = /[ \t\u00a0\u202f\u3000]*$/;
const WORD = /[\p{Alphabetic}\p{N}\u0300-\u036f\u0610-\u061a\u064b-\u065f]/u;
const WORD_AT_END = /[\p{Alphabetic}\p{N}\u0300-\u036f\u0610-\u061a\u064b-\u065f_]+$/u;
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const CLOSING = /[.,;!?…)}»”’›%‰。，、；！？）】」』》؟،؛।€£¥₽₴₹]/u;
const CLOSERS_AT_END = /[*_~"'`+#$“‘²³°®™©]+$/u;
const TAG_AT_END = /<\/[a-z0-9]+>$/i;

/** The citation marks of a text, in order. */
export function citationMarks(text: string): CitationMark[] {
  if (!text.includes("[")) return [];
  const blocks = codeBlocks(text);
  const paragraphs = paragraphsOf(text, blocks);
  const hidden = [...blocks, ...codeSpans(text, paragraphs)].sort((one, other) => one.start - other.start);
  const links = linkTexts(text, paragraphs, hidden);
  const defined = definedNumbers(text, blocks);
  const isHidden = inside(hidden);
  const isLink = inside(links);
  const marks: CitationMark[] = [];
  for (let start = text.indexOf("["); start >= 0; start = text.indexOf("[", start + 1)) {
    const number = numberAt(text, start);
    if (number === undefined) continue;
    const end = start + String(number).length + 2;
    const next = numberAt(text, end);
    if (defined.has(number) || (next !== undefined && defined.has(next))) continue;
    if (isHidden(start) || isLink(start)) continue;
    const before = text.slice(Math.max(0, start - MAX_BEFORE), start);
    if (isCitation(before, text.slice(end, end + 2))) marks.push({ number, start, end });
  }
  return marks;
}

/** The numbers that a text cites, without duplicates, in order of first occurrence. */
export function citedNumbers(text: string): number[] {
  return [...new Set(citationMarks(text).map(({ number }) => number))];
}

/** Whether a number in brackets between these texts of one paragraph is a citation. */
export function isCitation(before: string, after: string): boolean {
  const line = before.slice(-MAX_BEFORE).split("\n").at(-1) ?? "";
  const [words, isAttached] = beforeMarks(line);
  return !continues(after, isAttached) && endsWords(words, isAttached);
}

function numberAt(text: string, at: number): number | undefined {
  MARK.lastIndex = at;
  const digits = MARK.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Tells for growing places whether they are in one of the ordered ranges. */
function inside(ranges: readonly Range[]): (at: number) => boolean {
  let next = 0;
  return (at) => {
    while ((ranges[next]?.end ?? Infinity) <= at) next += 1;
    return (ranges[next]?.start ?? Infinity) <= at;
  };
}

/** The text before the marks that end it, and whether nothing is between it and the first of them. */
function beforeMarks(text: string): [string, boolean] {
  let before = text;
  for (let count = 0; count < MAX_MARKS; count += 1) {
    const words = before.replace(SPACES_AT_END, "");
    const spaces = before.length - words.length;
    if (spaces > MAX_SPACES) return ["", false];
    const earlier = spaces === 0 ? words : words.replace(/[,;]+$/, "");
    if (!MARK_AT_END.test(earlier)) return [words, spaces === 0];
    before = earlier.replace(MARK_AT_END, "");
  }
  return ["", false];
}

/** Whether what follows makes the brackets something else: a link, an index, the beginning of a name. */
function continues(after: string, isAttached: boolean): boolean {
  if (/^[(_]/.test(after)) return true;
  if (isAttached && /^(?: ?=|\.[A-Za-z_])/.test(after)) return true;
  const [first = ""] = after;
  return WORD.test(first) && !UNSPACED.test(first);
}

/** Whether a line so far ends with words that a mark may follow. */
function endsWords(before: string, isAttached: boolean): boolean {
  if (/^[ \t>]*\d{1,9}[.)]$/.test(before)) return false;
  const inner = withoutClosers(before);
  const wasWrapped = inner.length < before.length;
  const last = [...inner].at(-1);
  if (last === undefined || (wasWrapped && /[ \t\u00a0\u202f\u3000]/.test(last))) return false;
  if (CLOSING.test(last) || UNSPACED.test(last)) return true;
  return WORD.test(last) && (!isAttached || wasWrapped || endsProse(inner));
}

/** The text without the marks and tags that may close around its last word. */
function withoutClosers(before: string): string {
  let inner = before;
  for (;;) {
    const fewer = inner.replace(CLOSERS_AT_END, "").replace(TAG_AT_END, "");
    if (fewer.length === inner.length) return inner;
    inner = fewer;
  }
}

/** Whether the last word, which has a bracket directly behind it, is no variable, name with digits or address. */
function endsProse(text: string): boolean {
  const word = WORD_AT_END.exec(text)?.[0] ?? "";
  const token = /\S*$/.exec(text)?.[0] ?? "";
  if (token.includes("://") || token.startsWith("www.") || word.includes("_")) return false;
  const letters = [...word].filter((letter) => !/\p{N}/u.test(letter)).length;
  const digits = [...word].length - letters;
  return letters === 0 || (digits === 0 && letters > 1);
}

/** The numbers that link definitions such as `[1]: https://…` give to addresses of the text itself. */
function definedNumbers(text: string, blocks: readonly Range[]): Set<number> {
  const defined = new Set<number>();
  const isCode = inside(blocks);
  for (const found of text.matchAll(/^ {0,3}\[([1-9]\d{0,2})\]:[ \t]*\S+(?:[ \t]*$|[ \t]+["'(].*$)/gm)) {
    if (!isCode(found.index)) defined.add(Number(found[1]));
  }
  return defined;
}

/** The lines of a text with their places. */
function* linesOf(text: string): Generator<Range & { line: string }> {
  for (let start = 0; start < text.length;) {
    const at = text.indexOf("\n", start);
    const end = at < 0 ? text.length : at + 1;
    yield { line: text.slice(start, end), start, end };
    start = end;
  }
}

/** The fenced and indented code blocks of a text. */
function codeBlocks(text: string): Range[] {
  const blocks: Range[] = [];
  let open: { start: number; fence: string } | undefined;
  // An indented line is code after a blank line, unless it belongs to a list.
  let afterBlank = true;
  let isInList = false;
  let isIndented = false;
  for (const { line, start, end } of linesOf(text)) {
    const content = line.replace(/^[> \t]+/, "").trimEnd();
    const fence = /^(?:`{3,}|~{3,})/.exec(content)?.[0];
    const info = content.slice(fence?.length ?? 0);
    if (open) {
      if (fence?.startsWith(open.fence) && info === "") {
        blocks.push({ start: open.start, end });
        open = undefined;
        afterBlank = false;
      }
      continue;
    }
    if (fence && (fence.startsWith("~") || !info.includes("`"))) {
      open = { start, fence };
      continue;
    }
    if (line.trim() === "") {
      afterBlank = true;
      continue;
    }
    const indent = (/^[ \t]*/.exec(line)?.[0] ?? "").replaceAll("\t", "    ").length;
    isIndented = indent >= 4 && !isInList && (afterBlank || isIndented);
    if (isIndented) blocks.push({ start, end });
    else if (indent < 4 && /^(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(content)) isInList = true;
    else if (indent < 2 && afterBlank) isInList = false;
    afterBlank = false;
  }
  if (open) blocks.push({ start: open.start, end: text.length });
  return blocks;
}

/** The paragraphs of a text outside of its code blocks. */
function paragraphsOf(text: string, blocks: readonly Range[]): Range[] {
  const paragraphs: Range[] = [];
  const isCode = inside(blocks);
  let last: Range | undefined;
  for (const { line, start, end } of linesOf(text)) {
    if (isCode(start) || line.trim() === "") last = undefined;
    else if (last) last.end = end;
    else paragraphs.push((last = { start, end }));
  }
  return paragraphs;
}

function codeSpans(text: string, paragraphs: readonly Range[]): Range[] {
  const spans: Range[] = [];
  for (const { start: base, end } of paragraphs) {
    const runs = [...text.slice(base, end).matchAll(/(\\*)(`+)/g)].map((run) => {
      const length = run[2]?.length ?? 0;
      const to = base + run.index + run[0].length;
      return { length, end: to, isEscaped: (run[1]?.length ?? 0) % 2 === 1 };
    });
    /** From where on there is no run of a length. */
    const noneFrom = new Map<number, number>();
    for (let at = 0; at < runs.length;) {
      const run = runs[at];
      at += 1;
      if (!run) break;
      const length = run.length - (run.isEscaped ? 1 : 0);
      if (length === 0 || length > MAX_BACKTICKS || at >= (noneFrom.get(length) ?? Infinity)) continue;
      let close = at;
      while (close < runs.length && runs[close]?.length !== length) close += 1;
      const closing = runs[close];
      if (!closing) noneFrom.set(length, at);
      else {
        spans.push({ start: run.end - length, end: closing.end });
        at = close + 1;
      }
    }
  }
  return spans;
}

/** The texts of inline links with their brackets, without those within others. */
function linkTexts(text: string, paragraphs: readonly Range[], hidden: readonly Range[]): Range[] {
  const links: Range[] = [];
  if (!text.includes("](")) return links;
  let code = 0;
  for (const { start, end } of paragraphs) {
    const open: number[] = [];
    for (let at = start; at < end; at += 1) {
      while ((hidden[code]?.end ?? Infinity) <= at) code += 1;
      const span = hidden[code];
      if (span && span.start <= at) at = span.end - 1;
      else if (text[at] === "\\") at += 1;
      else if (text[at] === "[") open.push(at);
      else if (text[at] === "]") {
        const from = open.pop();
        if (from === undefined || !hasAddress(text.slice(at + 1, Math.min(end, at + MAX_ADDRESS)))) continue;
        while ((links.at(-1)?.start ?? -1) > from) links.pop();
        links.push({ start: from, end: at + 1 });
      }
    }
  }
  return links;
}

/** Whether the text begins with the address of an inline link, in parentheses. */
function hasAddress(text: string): boolean {
  const address = /^\(([^)]*)\)/.exec(text)?.[1]?.trim();
  return address !== undefined && (address.startsWith("<") || !/\s/.test(address) || /["']/.test(address));
}
