// How much of a source that was parsed up to some point is final.

import type { Token } from "marked";
import type { LexedTokens } from "./syntax";

/** Characters parsed at a time. A block that fills the window by itself is split (see `split.ts`, `growing.ts`). */
export const WINDOW_CHARS = 2048;

/** A last line that may still become a list marker, rule, underline, fence or blank line. */
const UNDECIDED = /^[ \t]{0,3}(?:\d{1,9}[.)]?|[-+*_=~`#>|:$\\[]{1,7})?[ \t]*$/;

/**
 * Number of tokens that no later text can change: all before the last block. The block before that is withheld too
 * while the last one may still turn out to belong to it.
 */
export function settledCount(tokens: Token[], slice: string): number {
  const solid = tokens.flatMap((token, i) => (token.type === "space" ? [] : [i]));
  const lastLine = slice.slice(slice.lastIndexOf("\n") + 1);
  const last = solid.at(-1) ?? 0;
  const mayBelong =
    (lastLine.trim() !== "" && UNDECIDED.test(lastLine)) ||
    ["mathBlock", "details"].includes(tokens[last]?.type ?? "");
  return mayBelong ? (solid.at(-2) ?? 0) : last;
}

/**
 * Number of `settled` tokens to accept. After a block that exceeds the window or exhausts the budget, the blocks behind
 * it are parsed again with a budget of their own.
 */
export function takenCount(tokens: LexedTokens, slice: string, settled: number): number {
  const isAlone = tokens.isExceeded || slice.length > WINDOW_CHARS;
  return isAlone ? Math.min(settled, firstBlock(tokens) + 1) : settled;
}

/** Index of the first token that is not blank lines; past the end if there is none. */
export function firstBlock(tokens: Token[]): number {
  const at = tokens.findIndex((token) => token.type !== "space");
  return at < 0 ? tokens.length : at;
}
