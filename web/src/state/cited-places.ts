/** Inserts citation marks such as [1] at the positions for which the model's provider cites sources. */
import type { Source } from "../api/events.ts";
import { isCitation } from "../citation-marks.ts";

/** Maximum number of citation marks at one position. */
const MAX_MARKS_AT_ONCE = 6;

/** Adds a citation mark after each cited position, unless the text already ends there with a link or a mark. */
export function withMarks(text: string, item: string, sources: readonly Source[]): string {
  const marks = marksOf(item, sources);
  if (marks.size === 0) return text;
  // Positions count characters (code points), not UTF-16 units.
  const letters = [...text];
  const code = codeIn(letters);
  let marked = "";
  let taken = 0;
  for (const [end, { ids, start }] of [...marks].sort(([one], [other]) => one - other)) {
    if (end > letters.length) break;
    const words = letters.slice(start, end).join("");
    if (/\]\([^)]*\)\W*$/.test(words) || /\[\d{1,3}\]\W*$/.test(words)) continue;
    const place = outsideOf(code, end);
    if (place < taken) continue;
    marked += letters.slice(taken, place).join("");
    const added = [...ids].slice(0, MAX_MARKS_AT_ONCE).map((id) => `[${id}]`);
    marked += spaceBefore(marked, letters.slice(place, place + 2).join("")) + added.join("");
    taken = place;
  }
  return marked + letters.slice(taken).join("");
}

/** The space without which a mark behind this text would be read as something else, such as an index. */
function spaceBefore(text: string, after: string): string {
  return !isCitation(text, after) && isCitation(`${text} `, after) ? " " : "";
}

/** The marks of an item by the position they follow. */
function marksOf(item: string, sources: readonly Source[]) {
  const marks = new Map<number, { ids: Set<string>; start: number }>();
  for (const source of sources) {
    if (!/^[1-9]\d{0,2}$/.test(source.id)) continue;
    for (const { item: of, start, end } of source.cited ?? []) {
      if (of !== item || start >= end) continue;
      const there = marks.get(end);
      if (there) there.ids.add(source.id);
      else marks.set(end, { ids: new Set([source.id]), start });
    }
  }
  return marks;
}

/** The ranges of code in the text, as character indices: a mark inside would be shown as code. */
function codeIn(letters: readonly string[]): [number, number][] {
  const text = letters.join("");
  const found: [number, number][] = [];
  let letter = 0;
  let unit = 0;
  const letterAt = (index: number) => {
    for (; unit < index; letter++) unit += letters[letter]?.length ?? 1;
    return letter;
  };
  for (const match of text.matchAll(
    /^ {0,3}(```+|~~~+)[\s\S]*?(?:^ {0,3}\1[^\n]*$|(?![\s\S]))|`[^`\n]+`/gm,
  )) {
    const from = letterAt(match.index);
    found.push([from, letterAt(match.index + match[0].length)]);
  }
  return found;
}

/** The position, or the end of the code range that contains it. */
function outsideOf(code: readonly [number, number][], place: number): number {
  return code.find(([from, to]) => from < place && place < to)?.[1] ?? place;
}
