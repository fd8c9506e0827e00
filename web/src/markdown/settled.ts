// How much of a source that was read up to some point is final.

import type { Token } from "marked";
import type { LexedTokens } from "./syntax";

/** So much is read at a time. A block that fills it by itself is cut into pieces (see `split.ts`, `growing.ts`). */
export const WINDOW_CHARS = 2048;

/** A last line that may still become a list marker, rule, underline, fence or blank line. */
const UNDECIDED = /^[ \t]{0,3}(?:\d{1,9}[.)]?|[-+*_=~`#>|:$\\[]{1,7})?[ \t]*$/;

/**
 * How many tokens no later text can change: all before the last block. The block before that waits too while
 * the last one may still turn out to belong to it.
 */
export function settledCount(tokens: Token[], slice: string): number {
  const solid = tokens.flatMap((token, i) => (token.type === "space" ? [] : [i]));
  const lastLine = slice.slice(slice.lastIndexOf("\n") + 1);
  const last = solid.at(-1) ?? 0;
  const mayBelong =
    (lastLine.trim() !== "" && UNDECIDED.test(lastLine)) || tokens[last]?.type === "mathBlock";
  return mayBelong ? (solid.at(-2) ?? 0) : last;
}

/**
 * How many of the `settled` tokens are taken. A block that is larger than a window, or took all of the work, has left
 * little to those behind it: they are read again.
 */
export function takenCount(tokens: LexedTokens, slice: string, settled: number): number {
  const isAlone = tokens.isExceeded || slice.length > WINDOW_CHARS;
  return isAlone ? Math.min(settled, firstBlock(tokens) + 1) : settled;
}

/** Where the first token stands that is more than blank lines; past the end where there is none. */
export function firstBlock(tokens: Token[]): number {
  const at = tokens.findIndex((token) => token.type !== "space");
  return at < 0 ? tokens.length : at;
}
