// Incremental Markdown parser: only the unsettled tail of the text is re-parsed; settled blocks never change.

import type { Links, Token, Tokens } from "marked";
import { isFence, toBlock, toOpenBlock, type Block } from "./blocks";
import { GrowingCode, GrowingTable, GrowingText, type Growing } from "./growing";
import { firstBlock, settledCount, takenCount, WINDOW_CHARS } from "./settled";
import { splitPoint } from "./split";
import { collectLinks, lex } from "./syntax";

/** A paragraph, or any other block, that cannot be split and is longer than this is shown as plain text. */
const MAX_PARAGRAPH_CHARS = 32_768;
const MAX_BLOCK_CHARS = 65_536;
const MAX_PICTURE_CHARS = 16_777_216;

/** A longer unsettled tail is re-parsed only after growing by an eighth, so that parsing stays linear. */
const EAGER_CHARS = 8192;

/** The first line of a table is re-parsed with each piece of it. */
const MAX_TABLE_HEAD_CHARS = 4096;

/**
 * Parses a text that arrives in pieces into blocks. The result depends only on the text, not on the pieces: every split
 * is a function of the source from a block's start.
 */
export class StreamMarkdown {
  #source = "";
  #heldReturn = false;
  #settledTo = 0;
  #window = WINDOW_CHARS;
  #growing: Growing | undefined;
  /** Set after a split: the next block continues the last one. */
  #joined = false;
  #nextNumber: number | undefined;
  /** Set by a `<details>` that did not close in time. */
  #isDetailsText = false;
  /** How much of the unsettled tail has been parsed, and the result. */
  #tailChars = 0;
  #readTail: readonly Block[] = [];
  readonly #links: Links;
  readonly #isSecondPass: boolean;
  #secondPass: StreamMarkdown | undefined;
  #blocks: Block[] = [];
  #tail: Block[] = [];

  /** `links` are known link definitions; only the engine's own second pass provides them. */
  constructor(links?: Links) {
    this.#links = links ?? (Object.create(null) as Links);
    this.#isSecondPass = links !== undefined;
  }

  /** Settled blocks; each keeps its identity. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** Blocks of the unsettled tail, rebuilt by every flush. */
  get tail(): readonly Block[] {
    return this.#tail;
  }

  /** Appends text. Nothing is parsed until `flush` or `finish`. */
  append(text: string): void {
    // A trailing carriage return is held back: it may be half of a line break.
    const whole = (this.#heldReturn ? "\r" : "") + text;
    this.#heldReturn = whole.endsWith("\r");
    this.#source += (this.#heldReturn ? whole.slice(0, -1) : whole).replace(/\r\n?/g, "\n");
  }

  /** Parses the appended text; `false` if `budgetMs` ran out first (call again). */
  flush(budgetMs = Infinity): boolean {
    return this.#read(false, performance.now() + budgetMs);
  }

  /** Parses to the end and settles everything; `false` if `budgetMs` ran out first (call again). */
  finish(budgetMs = Infinity): boolean {
    const deadline = performance.now() + budgetMs;
    if (!this.#secondPass) {
      if (this.#heldReturn) this.append("\n");
      if (!this.#read(true, deadline)) return false;
      if (this.#isSecondPass || Object.keys(this.#links).length === 0) return true;
      // Link definitions may follow their use: parse a second time with all of them known.
      this.#secondPass = new StreamMarkdown(this.#links);
      this.#secondPass.#source = this.#source;
    }
    if (!this.#secondPass.finish(deadline - performance.now())) return false;
    this.#blocks = this.#secondPass.#blocks.map((block, i) => {
      const before = this.#blocks[i];
      return before && sameBlock(before, block) ? before : block;
    });
    return true;
  }

  #read(done: boolean, deadline: number): boolean {
    while (this.#step(done)) if (performance.now() > deadline) return false;
    return true;
  }

  /** Settles what it can of one window; `false` if nothing is left to settle. */
  #step(done: boolean): boolean {
    if (this.#growing) return this.#grow(this.#growing, done);
    const end = Math.min(this.#source.length, this.#settledTo + this.#window);
    const atEnd = end === this.#source.length;
    const slice = this.#source.slice(this.#settledTo, end);
    const isLast = done && atEnd;
    if (!isLast && slice.length < this.#window && this.#isReadEnough(slice)) return false;
    const tokens = lex(slice, this.#links, !isLast, this.#isDetailsText);
    const settled = isLast ? tokens.length : settledCount(tokens, slice);
    const cut = takenCount(tokens, slice, settled);
    if (cut > 0) {
      this.#settle(tokens.slice(0, cut));
      this.#window = WINDOW_CHARS;
      this.#showTail(isLast && cut === tokens.length ? [] : tokens.slice(cut));
      return cut < settled || !atEnd || this.#source.length - this.#settledTo >= WINDOW_CHARS;
    }
    if (slice.length === this.#window) {
      this.#cutLongBlock(tokens, slice);
      return true;
    }
    this.#showTail(tokens);
    this.#tailChars = slice.length;
    this.#readTail = this.#tail;
    return false;
  }

  /** Whether a long unsettled tail has barely grown since it was parsed; until then new text is shown as plain text. */
  #isReadEnough(slice: string): boolean {
    const read = this.#tailChars;
    if (read < EAGER_CHARS || slice.length > read + read / 8) return false;
    const id = this.#blocks.length + this.#readTail.length;
    const unread: Block = { kind: "text", id, joined: true, chunks: [], rest: slice.slice(read) };
    this.#tail = [...this.#readTail, unread];
    return true;
  }

  #grow(growing: Growing, done: boolean): boolean {
    const end = growing.advance(this.#source, done);
    if (end === undefined || end === "more") {
      this.#tail = [growing.block()];
      return end === "more";
    }
    this.#blocks.push(growing.block());
    this.#tail = [];
    this.#growing = undefined;
    this.#joined = false;
    this.#window = WINDOW_CHARS;
    this.#settledTo = end;
    return end < this.#source.length;
  }

  #settle(tokens: Token[]): void {
    this.#tailChars = 0;
    collectLinks(tokens, this.#links);
    for (const token of tokens) {
      this.#settledTo += token.raw.length;
      if (token.type === "space" || token.type === "def") continue;
      this.#blocks.push(toBlock(this.#numbered(token), this.#blocks.length, this.#joined));
      this.#joined = false;
      this.#nextNumber = undefined;
    }
  }

  #showTail(tokens: Token[]): void {
    const shown = tokens.filter((token) => token.type !== "space" && token.type !== "def");
    this.#tail = shown.map((token, i) => {
      const id = this.#blocks.length + i;
      const joined = i === 0 && this.#joined;
      return i < shown.length - 1
        ? toBlock(token, id, joined)
        : toOpenBlock(joined ? this.#numbered(token) : token, id, joined, this.#links);
    });
  }

  /** A list that continues a split one continues its numbering. */
  #numbered(token: Token): Token {
    if (this.#nextNumber === undefined || token.type !== "list" || !(token as Tokens.List).ordered)
      return token;
    return { ...(token as Tokens.List), start: this.#nextNumber };
  }

  /** One block fills the whole window: split it, let it grow by chunks, or enlarge the window. */
  #cutLongBlock(tokens: Token[], slice: string): void {
    const id = this.#blocks.length;
    const first = firstBlock(tokens);
    const token = tokens[first];
    if (!token && slice.includes("\n")) {
      this.#tailChars = 0;
      this.#settledTo += slice.lastIndexOf("\n") + 1;
      return;
    }
    if (token && isFence(token)) {
      const opening = /^(?:[ \t]*\n)*( {0,3})(`{3,}|~{3,})([^\n]*)\n/.exec(slice);
      if (opening) this.#growing = new GrowingCode(opening, this.#settledTo, id);
    } else if (token?.type === "table") {
      const opening = /^(?:[ \t]*\n)*[^\n]*\n[^\n]*\n/.exec(slice);
      if (opening && opening[0].length < MAX_TABLE_HEAD_CHARS)
        this.#growing = new GrowingTable(opening[0], this.#settledTo, id, this.#links);
    }
    if (this.#growing) return;
    const point = token ? splitPoint(token, slice) : 0;
    if (point === 0) {
      if (slice.length < longest(token, slice)) {
        this.#window *= 2;
        return;
      }
      if (token?.type === "details") {
        this.#isDetailsText = true;
        this.#window = WINDOW_CHARS;
        return;
      }
      this.#tailChars = 0;
      for (const space of tokens.slice(0, first)) this.#settledTo += space.raw.length;
      this.#growing = new GrowingText(this.#settledTo, id, this.#joined);
      return;
    }
    const pieces = lex(slice.slice(0, point), this.#links, false);
    const list = pieces.find((piece): piece is Tokens.List => piece.type === "list");
    const number = this.#nextNumber ?? (list?.start || 1);
    this.#settle(pieces);
    // The shown part is settled now, and a caller that parses in slices can display it before the rest is parsed.
    this.#tail = [];
    this.#joined = true;
    this.#nextNumber = list?.ordered ? number + list.items.length : undefined;
    this.#window = WINDOW_CHARS;
  }
}

function longest(token: Token | undefined, slice: string): number {
  if (token && ["list", "blockquote", "code", "table"].includes(token.type)) return MAX_BLOCK_CHARS;
  return /!\[[^[\]\n]{0,500}\]\(data:image\//.test(slice) ? MAX_PICTURE_CHARS : MAX_PARAGRAPH_CHARS;
}

function sameBlock(a: Block, b: Block): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
