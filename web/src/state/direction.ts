/** The direction of texts: where CSS and `dir="auto"` cannot tell it. */

const LETTER = /\p{L}/u;
/** The blocks of Hebrew, Arabic and the other scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Embeddings and overrides: `evil\u202egpj.exe` would be displayed as `evilexe.jpg`. */
const OVERRIDES = /[\u202a-\u202e]/g;

/** Whether the first letter is of a right-to-left script, as `dir="auto"` decides. */
export function isRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(LETTER.exec(text)?.[0] ?? "");
}

export function isPageRightToLeft(): boolean {
  return document.documentElement.dir === "rtl";
}

/** The value for a sentence of the page: if the two directions differ, neither changes the order of the other. */
export function isolated(value: string): string {
  const differs = isPageRightToLeft() ? LETTER.test(value) : RIGHT_TO_LEFT.test(value);
  return differs ? `\u2068${value}\u2069` : value;
}

/** A name as it is spelt, whatever its author has put in. */
export function asSpelt(name: string): string {
  return name.replace(OVERRIDES, "");
}
