// Incremental markdown: only the unsettled end of the text is read again; settled blocks never change.

import type { Links, Token, Tokens } from "marked";
import { isFence, toBlock, toOpenBlock, type Block } from "./blocks";
import { GrowingCode, GrowingTable, type Growing } from "./growing";
import { splitPoint } from "./split";
import { collectLinks, lex } from "./syntax";

/** A block that fills this much source by itself is cut into pieces (see `split.ts`, `growing.ts`). */
const WINDOW_CHARS = 2048;

/** A last line that may still become a list marker, rule, underline, fence or blank line. */
const UNDECIDED = /^[ \t]{0,3}(?:\d{1,9}[.)]?|[-+*_=~`#>|:$\\[]{1,7})?[ \t]*$/;

/**
 * Turns a text that arrives in parts into blocks. The result depends on the text only, not on the parts:
 * every cut is a function of the source from a block's start.
 */
export class StreamMarkdown {
  #source = "";
  #heldReturn = false;
  #settledTo = 0;
  #window = WINDOW_CHARS;
  #growing: Growing | undefined;
  /** Set after a cut: the next block continues the last one. */
  #joined = false;
  #nextNumber: number | undefined;
  readonly #links: Links;
  readonly #isSecondPass: boolean;
  #secondPass: StreamMarkdown | undefined;
  #blocks: Block[] = [];
  #tail: Block[] = [];

  /** `links` are definitions known beforehand; only the engine's own second pass gives them. */
  constructor(links?: Links) {
    this.#links = links ?? (Object.create(null) as Links);
    this.#isSecondPass = links !== undefined;
  }

  /** Blocks that are final; each keeps its identity. */
  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** The blocks of the unsettled end, built anew by every flush. */
  get tail(): readonly Block[] {
    return this.#tail;
  }

  /** Adds text. Nothing is read until `flush` or `finish`. */
  append(text: string): void {
    // A carriage return at the end waits: it may be half of a line end.
    const whole = (this.#heldReturn ? "\r" : "") + text;
    this.#heldReturn = whole.endsWith("\r");
    this.#source += (this.#heldReturn ? whole.slice(0, -1) : whole).replace(/\r\n?/g, "\n");
  }

  /** Reads what was added; false when `budgetMs` ran out first (call again). */
  flush(budgetMs = Infinity): boolean {
    return this.#read(false, performance.now() + budgetMs);
  }

  /** Reads to the end and settles everything; false when `budgetMs` ran out first (call again). */
  finish(budgetMs = Infinity): boolean {
    const deadline = performance.now() + budgetMs;
    if (!this.#secondPass) {
      if (this.#heldReturn) this.append("\n");
      if (!this.#read(true, deadline)) return false;
      if (this.#isSecondPass || Object.keys(this.#links).length === 0) return true;
      // Definitions may stand below their use: read once more, now knowing them all.
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

  /** Settles what it can of one window; false when nothing is left to settle. */
  #step(done: boolean): boolean {
    if (this.#growing) return this.#grow(this.#growing, done);
    const end = Math.min(this.#source.length, this.#settledTo + this.#window);
    const atEnd = end === this.#source.length;
    const slice = this.#source.slice(this.#settledTo, end);
    const isLast = done && atEnd;
    const tokens = lex(slice, this.#links, !isLast);
    const cut = isLast ? tokens.length : settledCount(tokens, slice);
    if (cut > 0) {
      this.#settle(tokens.slice(0, cut));
      this.#window = WINDOW_CHARS;
      this.#showTail(isLast ? [] : tokens.slice(cut));
      return !atEnd || this.#source.length - this.#settledTo >= WINDOW_CHARS;
    }
    if (slice.length === this.#window) {
      this.#cutLongBlock(tokens.find((token) => token.type !== "space") ?? null, slice);
      return true;
    }
    this.#showTail(tokens);
    return false;
  }

  #grow(growing: Growing, done: boolean): boolean {
    const end = growing.advance(this.#source, done);
    if (end === undefined) {
      this.#tail = [growing.block()];
      return false;
    }
    this.#blocks.push(growing.block());
    this.#tail = [];
    this.#growing = undefined;
    this.#settledTo = end;
    return end < this.#source.length;
  }

  #settle(tokens: Token[]): void {
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

  /** A list that continues a cut one goes on counting. */
  #numbered(token: Token): Token {
    if (this.#nextNumber === undefined || token.type !== "list" || !(token as Tokens.List).ordered)
      return token;
    return { ...(token as Tokens.List), start: this.#nextNumber };
  }

  /** One block fills the whole window: cut it, let it grow by chunks, or look further. */
  #cutLongBlock(token: Token | null, slice: string): void {
    const id = this.#blocks.length;
    if (token && isFence(token)) {
      const opening = /^(?:[ \t]*\n)*( {0,3})(`{3,}|~{3,})([^\n]*)\n/.exec(slice);
      if (opening) this.#growing = new GrowingCode(opening, this.#settledTo, id);
    } else if (token?.type === "table") {
      const opening = /^(?:[ \t]*\n)*[^\n]*\n[^\n]*\n/.exec(slice);
      if (opening) this.#growing = new GrowingTable(opening[0], this.#settledTo, id, this.#links);
    }
    if (this.#growing) return;
    const point = token ? splitPoint(token, slice) : 0;
    if (point === 0) {
      this.#window *= 2;
      return;
    }
    const pieces = lex(slice.slice(0, point), this.#links, false);
    const list = pieces.find((piece): piece is Tokens.List => piece.type === "list");
    const first = this.#nextNumber ?? (list?.start || 1);
    this.#settle(pieces);
    // What was shown of it is settled now, and who reads in slices may look before the rest is read.
    this.#tail = [];
    this.#joined = true;
    this.#nextNumber = list?.ordered ? first + list.items.length : undefined;
    this.#window = WINDOW_CHARS;
  }
}

/**
 * How many tokens no later text can change: all before the last block. The block before that waits too while
 * the last one may still turn out to belong to it.
 */
function settledCount(tokens: Token[], slice: string): number {
  const solid = tokens.flatMap((token, i) => (token.type === "space" ? [] : [i]));
  const lastLine = slice.slice(slice.lastIndexOf("\n") + 1);
  const last = solid.at(-1) ?? 0;
  const mayBelong =
    (lastLine.trim() !== "" && UNDECIDED.test(lastLine)) || tokens[last]?.type === "mathBlock";
  return mayBelong ? (solid.at(-2) ?? 0) : last;
}

function sameBlock(a: Block, b: Block): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
