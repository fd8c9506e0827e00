// Block types that the engine outputs, and the conversion of a token to a block.

import type { Links, Token, Tokens } from "marked";
import { sanitizeMarkdown, sanitizeRows } from "./sanitize";
import { closeOpenMarks, fenceLanguage, lex, tableRows, tokensToHtml } from "./syntax";

interface BlockBase {
  /** Index in the document, from 0; it never changes for a block. */
  id: number;
  /** Continues the previous block, which was split because it is very long. */
  joined: boolean;
}

/** A block that consists only of markup: paragraph, heading, list, quote, rule, formula. */
export interface HtmlBlock extends BlockBase {
  kind: "html";
  /** Token type, used for the spacing around the block. */
  type: string;
  html: string;
}

/** A fenced or indented code block; long ones are split into complete `chunks` of lines plus a `rest`. */
export interface CodeBlock extends BlockBase {
  kind: "code";
  lang: string;
  chunks: readonly string[];
  rest: string;
  /** The closing fence has not arrived yet. */
  open: boolean;
}

/** A table; long ones are split into complete `chunks` of rows plus a `rest`, all sanitised HTML. */
export interface TableBlock extends BlockBase {
  kind: "table";
  head: string;
  chunks: readonly string[];
  rest: string;
}

/** A block that is too long or too deeply nested to parse: its source, in complete `chunks` plus a `rest`. */
export interface TextBlock extends BlockBase {
  kind: "text";
  chunks: readonly string[];
  rest: string;
}

export type Block = HtmlBlock | CodeBlock | TableBlock | TextBlock;

/** Whether the token is a fenced code block rather than an indented one. */
export function isFence(token: Token): token is Tokens.Code {
  return token.type === "code" && /^ {0,3}(?:`{3}|~{3})/.test(token.raw);
}

/** Renders a complete token. */
export function toBlock(token: Token, id: number, joined = false): Block {
  if (token.type === "code") {
    const { text, lang } = token as Tokens.Code;
    return { kind: "code", id, joined, lang: fenceLanguage(lang), chunks: [], rest: text, open: false };
  }
  if (token.type === "table") {
    const { head, rows } = tableRows(token as Tokens.Table);
    return { kind: "table", id, joined, head: sanitizeRows(head), chunks: [], rest: sanitizeRows(rows) };
  }
  return { kind: "html", id, joined, type: token.type, html: sanitizeMarkdown(tokensToHtml([token])) };
}

/** Longer tails are too expensive to repair on every update. */
const MAX_REPAIRED_CHARS = 8192;

const CLOSABLE = new Set(["paragraph", "heading", "list", "blockquote", "details", "footnote"]);

/** Renders the last token of a streaming text: code stays open, unclosed marks are closed temporarily. */
export function toOpenBlock(token: Token, id: number, joined: boolean, links: Links): Block {
  if (isFence(token)) {
    const closed = /\n {0,3}(?:`{3,}|~{3,})[ \t]*\n*$/.test(token.raw);
    return { ...(toBlock(token, id, joined) as CodeBlock), open: !closed };
  }
  if (CLOSABLE.has(token.type) && token.raw.length <= MAX_REPAIRED_CHARS) {
    const closed = closeOpenMarks(token.raw);
    if (closed !== token.raw) {
      const [repaired, more] = lex(closed, links, true);
      if (repaired && !more && repaired.type === token.type) return toBlock(repaired, id, joined);
    }
  }
  return toBlock(token, id, joined);
}
