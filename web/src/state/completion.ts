/** Cache of completions, and how a text matches them. Pure functions. */

/** A text and its suggested continuation. */
export interface Known {
  text: string;
  ghost: string;
}

/** Maximum number of cached completions. */
const maxKnown = 40;

export function remembered(known: Known[], one: Known): Known[] {
  return [one, ...known.filter(({ text }) => text !== one.text)].slice(0, maxKnown);
}

/** Whether the text is a prefix of the suggested text. */
export function goesOn({ text: before, ghost }: Known, text: string): boolean {
  return text.startsWith(before) && (before + ghost).startsWith(text);
}

/** The cached continuation of the text, also in the middle of an earlier suggestion; `null` if there is none. */
export function goingOn(known: Known[], text: string): string | null {
  const found = known.find((one) => goesOn(one, text));
  return found ? (found.text + found.ghost).slice(text.length) : null;
}

/** Whether the text has at most `most` characters as counted by the server; a negative `most` means no limit. */
export function isWithin(text: string, most: number): boolean {
  // Code points are counted only if necessary: each has one or two UTF-16 units.
  return most < 0 || text.length <= most || (text.length <= 2 * most && [...text].length <= most);
}

/** The first word of the suggestion, including leading whitespace. */
export function firstWord(ghost: string): string {
  return /^\s*\S+/.exec(ghost)?.[0] ?? ghost;
}
