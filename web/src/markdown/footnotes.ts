// Footnotes: `[^1]` in the text and `[^1]: …` anywhere. A reference without a definition is text.

import type { MarkedExtension, Token, Tokens } from "marked";
import { escapeHtml } from "./escape";

/** Name of a footnote: not empty, without spaces and brackets. */
const NAME = String.raw`\[\^([^\s\[\]^]{1,40})\]`;
const REFERENCE = new RegExp(`^${NAME}(?!:)`);
const FIRST_LINE = new RegExp(`^ {0,3}${NAME}:[ \\t]*`);
/** A line that begins another block. */
const OTHER_BLOCK = /^ {0,3}(?:\[\^|[-*+>|] |#{1,6} |```|~~~|\d{1,9}[.)] )/;
const INDENTED = /^(?: {4}|\t)/;

/** Length of a definition whose first line has been recognised: lines directly below, and indented paragraphs. */
function definitionLength(src: string): number {
  let end = lineEnd(src, 0);
  let isBlankBefore = false;
  for (let at = end; at < src.length;) {
    const next = lineEnd(src, at);
    const line = src.slice(at, next);
    const isBlank = line.trim() === "";
    if (!isBlank && (isBlankBefore ? !INDENTED.test(line) : OTHER_BLOCK.test(line))) break;
    if (!isBlank) end = next;
    isBlankBefore = isBlank;
    at = next;
  }
  return end;
}

function lineEnd(src: string, from: number): number {
  const at = src.indexOf("\n", from);
  return at < 0 ? src.length : at + 1;
}

/** Key among the link definitions, which know what is defined elsewhere in the text. */
const keyOf = (name: string) => `^${name.toLowerCase()}`;

interface Footnote extends Tokens.Generic {
  name: string;
  tokens: Token[];
}

/** The name of a footnote, in the text and before the footnote: each leads to the other. */
function button(name: string, kind: string): string {
  const text = escapeHtml(name);
  return `<button type="button" class="${kind}" data-footnote="${text}">${text}</button>`;
}

export const footnoteExtensions: MarkedExtension["extensions"] = [
  {
    name: "footnoteReference",
    level: "inline",
    tokenizer(src) {
      const match = REFERENCE.exec(src);
      const name = match?.[1];
      if (!match || name === undefined || this.lexer.state.inLink) return undefined;
      if (!(keyOf(name) in this.lexer.tokens.links)) return undefined;
      return { type: "footnoteReference", raw: match[0], name };
    },
    renderer: ({ name }) => button(String(name), "md-footnote-reference"),
  },
  {
    name: "footnote",
    level: "block",
    start: (src) => src.search(/\n {0,3}\[\^/),
    tokenizer(src): Footnote | undefined {
      const match = FIRST_LINE.exec(src);
      const name = match?.[1];
      if (!match || name === undefined) return undefined;
      const raw = src.slice(0, definitionLength(src));
      const body = raw.slice(match[0].length);
      this.lexer.tokens.links[keyOf(name)] ??= { href: "", title: "" };
      const { top } = this.lexer.state;
      this.lexer.state.top = true;
      const tokens = this.lexer.blockTokens(body.replace(/^(?: {1,4}|\t)/gm, ""), []);
      this.lexer.state.top = top;
      return { type: "footnote", raw, name, tokens };
    },
    childTokens: ["tokens"],
    renderer(token) {
      const { name, tokens } = token as Footnote;
      return `<div class="md-footnote">${button(name, "md-footnote-name")}<div>${this.parser.parse(tokens)}</div></div>\n`;
    },
  },
];

/** Key of the definition, if the token is one. */
export function footnoteKey(token: Token): string | undefined {
  return token.type === "footnote" ? keyOf((token as Footnote).name) : undefined;
}
