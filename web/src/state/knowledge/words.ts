/** Highlights the words of a query in a passage, including inflected forms. */
import type { Piece } from "../search.ts";

const word = /[\p{L}\p{M}\p{N}]+/gu;

/** A word in a script without letter case, which often has no spaces either, or joins small words to others. */
const isUncased = (text: string) => /\p{Lo}/u.test(text);

/** Short words are mostly stop words such as “the”; they count if they are numbers, in capitals, or the only ones. */
function wordsOf(query: string): string[] {
  const all = query.match(word) ?? [];
  const telling = all.filter(
    (one) => one.length > 3 || isUncased(one) || /\p{N}/u.test(one) || one === one.toUpperCase(),
  );
  return [...new Set((telling.length > 0 ? telling : all).map((one) => one.toLowerCase()))];
}

/** Whether two words differ only in a possible ending. The server knows languages; this only highlights. */
export function seemsSame(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short === long) return true;
  if (/\p{N}/u.test(long)) return false;
  let common = 0;
  while (common < short.length && short[common] === long[common]) common += 1;
  return common >= 3 && common > short.length * 0.75 && long.length - common <= 4;
}

/** Splits a text into words of the query and the text between them. */
export function splitByWords(text: string, query: string): Piece[] {
  const wanted = wordsOf(query);
  const pieces: Piece[] = [];
  let from = 0;
  const mark = (start: number, end: number) => {
    if (start > from) pieces.push({ text: text.slice(from, start), hit: false });
    pieces.push({ text: text.slice(start, end), hit: true });
    from = end;
  };
  for (const { 0: found, index } of text.matchAll(word)) {
    const shown = found.toLowerCase();
    if (wanted.some((one) => seemsSame(one, shown))) mark(index, index + found.length);
    else if (isUncased(shown)) {
      const inside = wanted.find((one) => shown.includes(one));
      const at = inside === undefined ? -1 : shown.indexOf(inside);
      if (inside !== undefined) mark(index + at, index + at + inside.length);
    }
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}
