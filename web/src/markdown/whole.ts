// Lexes a complete text into tokens, window by window, for exports, which need no blocks.

import type { Links, Token } from "marked";
import { settledCount, takenCount, WINDOW_CHARS } from "./settled";
import { collectLinks, lex } from "./syntax";

/** Lexes all of `text`. The work is proportional to the text. */
export function lexWhole(text: string): Token[] {
  const source = text.replace(/\r\n?/g, "\n");
  const links = Object.create(null) as Links;
  const tokens = read(source, links);
  // Link definitions may follow their use.
  return Object.keys(links).length > 0 ? read(source, links) : tokens;
}

function read(source: string, links: Links): Token[] {
  const all: Token[] = [];
  let at = 0;
  let window = WINDOW_CHARS;
  while (at < source.length) {
    const slice = source.slice(at, at + window);
    const isLast = at + slice.length === source.length;
    const tokens = lex(slice, links, !isLast);
    const settled = isLast ? tokens.length : settledCount(tokens, slice);
    const taken = tokens.slice(0, takenCount(tokens, slice, settled));
    if (taken.length === 0) {
      window *= 2;
      continue;
    }
    collectLinks(taken, links);
    const chars = taken.reduce((sum, token) => sum + token.raw.length, 0);
    at += Math.max(1, chars);
    all.push(...taken);
    window = WINDOW_CHARS;
  }
  return all;
}
