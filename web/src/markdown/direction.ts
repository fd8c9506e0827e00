// The direction of a text by its first letter, for where `dir="auto"` cannot say it or costs too much.

const LETTER = /\p{L}/u;
/** The blocks of Hebrew, Arabic and the other scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

export type Direction = "ltr" | "rtl";

/** The direction of the first letter; `undefined` without one. */
export function directionOf(text: string): Direction | undefined {
  const letter = LETTER.exec(text)?.[0];
  if (letter === undefined) return undefined;
  return RIGHT_TO_LEFT.test(letter) ? "rtl" : "ltr";
}

/** Whether anything in the text is of a right-to-left script. */
export function hasRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** The same of rendered Markdown, where code, formulas and addresses do not count. */
export function directionOfHtml(html: string): Direction | undefined {
  return directionOf(html.replace(/<(\w+)[^>]* dir="[^]*?<\/\1>|<[^>]*>|&#?\w+;/g, ""));
}
