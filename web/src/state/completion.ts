/** What is known of how texts go on, and how much of it is taken. Pure. */

/** A text, and what a model said would follow. */
export interface Known {
  text: string;
  ghost: string;
}

/** So many are remembered. */
const maxKnown = 40;

export function remembered(known: Known[], one: Known): Known[] {
  return [one, ...known.filter(({ text }) => text !== one.text)].slice(0, maxKnown);
}

/** Whether the text is on the way of what was offered. */
export function goesOn({ text: before, ghost }: Known, text: string): boolean {
  return text.startsWith(before) && (before + ghost).startsWith(text);
}

/** What follows the text by what is known: also in the middle of what was offered before; null where nothing is known. */
export function goingOn(known: Known[], text: string): string | null {
  const found = known.find((one) => goesOn(one, text));
  return found ? (found.text + found.ghost).slice(text.length) : null;
}

/** Whether a text has no more characters, as the server counts them; any number is allowed where `most` is negative. */
export function isWithin(text: string, most: number): boolean {
  // Counted only where it matters: a character has one or two of these units.
  return most < 0 || text.length <= most || (text.length <= 2 * most && [...text].length <= most);
}

/** The first word of what is offered, with the blanks before it. */
export function firstWord(ghost: string): string {
  return /^\s*\S+/.exec(ghost)?.[0] ?? ghost;
}
