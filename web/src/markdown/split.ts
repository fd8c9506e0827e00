// Finds where a very long paragraph, list or quote may be split, as a function of its source alone.

import type { Token, Tokens } from "marked";
import { lex } from "./syntax";

/** Ordinary paragraphs are shorter: a split is visible as a line break. */
const LONG_PARAGRAPH_CHARS = 4096;

/** Returns how many characters of `source` form a separate block, or 0 if it cannot be split yet. */
export function splitPoint(token: Token, source: string): number {
  switch (token.type) {
    case "paragraph":
      return paragraphPoint(token as Tokens.Paragraph, source);
    case "list":
      return listPoint(source);
    case "blockquote":
      return quotePoint(source);
    default:
      return 0;
  }
}

/** Characters that may open emphasis, code, a link or a formula that is not closed yet. */
const OPENER = /(?:^|[\s(])[*_~$]+(?=\S)|[`[]/g;
/** An opener this far back is treated as a plain character. */
const REACH_CHARS = 600;

/** The last sentence end (or else word end) in the first three quarters that lies outside any mark. */
function paragraphPoint(token: Tokens.Paragraph, source: string): number {
  if (source.length < LONG_PARAGRAPH_CHARS) return 0;
  const from = source.length / 4;
  const to = from * 3;
  let offset = 0;
  let risk = -REACH_CHARS;
  let wordEnd = 0;
  let sentenceEnd = 0;
  for (const part of token.tokens) {
    if (offset > to) break;
    if (part.type === "text") {
      const opened = [...part.raw.matchAll(OPENER)].map((match) => offset + match.index);
      // The next block starts on its own line, so it must start with a letter: no list, no heading.
      for (const match of part.raw.matchAll(/([.!?…:;]?)\s+(?=\p{L})/gu)) {
        const at = offset + match.index + match[0].length;
        while (opened[0] !== undefined && opened[0] < at) risk = opened.shift() ?? risk;
        if (at < from || at > to || at - risk < REACH_CHARS) continue;
        wordEnd = at;
        if (match[1]) sentenceEnd = at;
      }
      risk = opened.at(-1) ?? risk;
    }
    offset += part.raw.length;
  }
  const point = sentenceEnd || wordEnd;
  return token.raw.startsWith(source.slice(0, point)) ? point : 0;
}

function completeLines(source: string): string {
  return source.slice(0, source.lastIndexOf("\n") + 1);
}

/** All items but the last: the next item has started, so they are complete. */
function listPoint(source: string): number {
  const list = lex(completeLines(source), {}, true)[0];
  if (list?.type !== "list") return 0;
  const items = (list as Tokens.List).items.slice(0, -1);
  const length = items.reduce((sum, item) => sum + item.raw.length, 0);
  return source.startsWith(items.map((item) => item.raw).join("")) ? length : 0;
}

/** Before the last block inside the quote; the lines inside and outside correspond one to one. */
function quotePoint(source: string): number {
  const lines = completeLines(source);
  const quote = lex(lines, {}, true)[0];
  if (quote?.type !== "blockquote") return 0;
  const inner = (quote as Tokens.Blockquote).tokens;
  const count = inner.slice(0, -1).reduce((sum, token) => sum + token.raw.split("\n").length - 1, 0);
  let point = 0;
  for (let line = 0; line < count; line++) point = lines.indexOf("\n", point) + 1;
  return /^ {0,3}>/.test(source.slice(point)) ? point : 0;
}
