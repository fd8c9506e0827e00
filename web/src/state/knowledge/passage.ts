/**
 * Finds a passage in shown text by its letters and digits: the runs of a page of a PDF, or the texts of rendered Markdown.
 * Spaces, hyphens, ligatures, accents, case and markup may differ, and parts of the passage may be in another order.
 */

/** Part of a shown piece of text, in UTF-16 units. */
export interface PieceRange {
  piece: number;
  start: number;
  end: number;
}

/** Letters and digits of several pieces as one string; for each of its units, the piece and the place it is from. */
interface Folded {
  text: string;
  pieces: number[];
  starts: number[];
  ends: number[];
}

/** The shortest part of a passage that is found on its own; a word of Chinese or Japanese has few characters. */
const PART_LENGTH = 12;
const PART_LENGTH_CJK = 5;
/** How much of a passage must be found. */
const SHARE = 0.6;
/** Maximum product of both lengths for a search by parts. */
const MAX_WORK = 4e8;

/** Letters and digits of a text, without case, accents and ligatures. */
export function lettersOf(text: string): string {
  return fold([text]).text;
}

/** Where the passage is; `null` if it is not there. Of several places, the one nearest to `near` in letters wins. */
export function findPassage(pieces: readonly string[], passage: string, near = 0): PieceRange[] | null {
  const wanted = lettersOf(passage);
  if (wanted === "") return null;
  const shown = fold(pieces);
  const spans = spansOf(shown.text, wanted, near);
  return spans && withSigns(pieces, rangesOf(pieces, shown, spans), passage);
}

function fold(pieces: readonly string[]): Folded {
  const folded: Folded = { text: "", pieces: [], starts: [], ends: [] };
  const parts: string[] = [];
  pieces.forEach((piece, index) => {
    let at = 0;
    for (const letter of piece) {
      const letters = foldedLetter(letter);
      for (let unit = 0; unit < letters.length; unit += 1) {
        folded.pieces.push(index);
        folded.starts.push(at);
        folded.ends.push(at + letter.length);
      }
      parts.push(letters);
      at += letter.length;
    }
  });
  return { ...folded, text: parts.join("") };
}

/** The letters that a character stands for: none for a space or mark, several for a ligature. */
function foldedLetter(letter: string): string {
  if (letter <= "\x7f") return /[0-9A-Za-z]/.test(letter) ? letter.toLowerCase() : "";
  return letter
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]|\u0640/gu, "")
    .replaceAll("ς", "σ");
}

interface Span {
  start: number;
  end: number;
}

function spansOf(shown: string, wanted: string, near: number): Span[] | null {
  const whole = nearest(shown, wanted, near);
  if (whole >= 0) return [{ start: whole, end: whole + wanted.length }];
  if (shown.length * wanted.length > MAX_WORK) return null;
  return spansOfParts(shown, wanted, near);
}

/** The longest parts that are found, from the beginning of the passage to its end. */
function spansOfParts(shown: string, wanted: string, near: number): Span[] | null {
  const least = /[\u3040-\u30ff\u3400-\u9fff]/.test(wanted) ? PART_LENGTH_CJK : PART_LENGTH;
  const spans: Span[] = [];
  let found = 0;
  for (let at = 0; at + least <= wanted.length;) {
    const length = longestAt(shown, wanted, at, least);
    if (length === 0) {
      at += 1;
      continue;
    }
    const start = nearest(shown, wanted.slice(at, at + length), near);
    spans.push({ start, end: start + length });
    near = start + length;
    found += length;
    at += length;
  }
  return found >= wanted.length * SHARE ? spans.sort((one, other) => one.start - other.start) : null;
}

/** Length of the longest part from `at` that is shown; 0 if it is shorter than `least`. */
function longestAt(shown: string, wanted: string, at: number, least: number): number {
  const has = (length: number) => shown.includes(wanted.slice(at, at + length));
  if (!has(least)) return 0;
  let known = least;
  let above = wanted.length - at + 1;
  while (above - known > 1) {
    const middle = (known + above) >> 1;
    if (has(middle)) known = middle;
    else above = middle;
  }
  return known;
}

/** The occurrence nearest to a place; -1 if there is none. */
function nearest(text: string, part: string, near: number): number {
  const before = text.lastIndexOf(part, near);
  const after = text.indexOf(part, Math.max(0, near));
  if (before < 0 || after < 0) return Math.max(before, after);
  return near - before <= after - near ? before : after;
}

/** One range per piece and span. A span that goes on in the next piece takes the signs between them. */
function rangesOf(pieces: readonly string[], shown: Folded, spans: readonly Span[]): PieceRange[] {
  return spans.flatMap(({ start, end }) => {
    const ranges: PieceRange[] = [];
    for (let at = start; at < end; at += 1) {
      const [piece, from, to] = [shown.pieces[at] ?? 0, shown.starts[at] ?? 0, shown.ends[at] ?? 0];
      const last = ranges.at(-1);
      if (last?.piece === piece) last.end = Math.max(last.end, to);
      else {
        if (last) ranges.push(...signsBetween(pieces, last.piece, piece));
        ranges.push({ piece, start: from, end: to });
      }
    }
    ranges.forEach((range, index) => {
      if (index > 0) range.start = 0;
      if (index < ranges.length - 1) range.end = pieces[range.piece]?.length ?? range.end;
    });
    return ranges;
  });
}

/** Pieces without letters between two of a span, such as a full stop after a link. */
function signsBetween(pieces: readonly string[], before: number, after: number): PieceRange[] {
  const between = pieces.slice(before + 1, after).map((text, place) => ({
    piece: before + 1 + place,
    start: 0,
    end: text.trim() === "" ? 0 : text.length,
  }));
  return between.filter((range) => range.end > 0);
}

/** Takes the signs around the passage, such as quotation marks and a full stop. */
function withSigns(pieces: readonly string[], ranges: PieceRange[], passage: string): PieceRange[] {
  const [first, last] = [ranges[0], ranges.at(-1)];
  if (!first || !last) return ranges;
  const before = /^[^\p{L}\p{N}]*/u.exec(passage.trim())?.[0] ?? "";
  const after = /[^\p{L}\p{N}]*$/u.exec(passage.trim())?.[0] ?? "";
  const isOf = (signs: string, sign = " ") => sign.trim() !== "" && signs.includes(sign);
  const [head, tail] = [pieces[first.piece] ?? "", pieces[last.piece] ?? ""];
  while (first.start > 0 && isOf(before, head[first.start - 1])) first.start -= 1;
  while (last.end < tail.length && isOf(after, tail[last.end])) last.end += 1;
  return ranges;
}

/** Markdown without what is not shown as text: targets of links, tags, numbers of lists, languages of code. */
export function shownOfMarkdown(source: string): string {
  return source
    .replace(/^ {0,3}(?:```+|~~~+).*$/gm, "")
    .replace(/\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)/g, "]")
    .replace(/<\/?[a-z][^<>]*>/gi, "")
    .replace(/^([\s>]*)\d{1,9}[.)](?=\s)/gm, "$1")
    .replace(/&(?:amp|lt|gt|quot|nbsp|#\d+|#x[0-9a-f]+);/gi, " ");
}
