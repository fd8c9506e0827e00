// Code fences, tables and plain text too long to lex as a whole: they grow by complete chunks, and new text is read
// once.

import type { Links, Tokens } from "marked";
import type { CodeBlock, TableBlock, TextBlock } from "./blocks";
import { sanitizeRows } from "./sanitize";
import { fenceLanguage, lex, tableRows } from "./syntax";

/** A block that is parsed line by line. */
export interface Growing {
  /**
   * Parses the next part of `source`; returns the position after the block once it has ended, `"more"` if there is
   * more to parse, and `undefined` until `source` grows.
   */
  advance(source: string, done: boolean): number | "more" | undefined;
  block(): CodeBlock | TableBlock | TextBlock;
}

const CHUNK_LINES = 40;
const CHUNK_CHARS = 4000;

/** A fence that starts at `start`, opened by `opening` (its whole first line). */
export class GrowingCode implements Growing {
  readonly #id: number;
  readonly #lang: string;
  readonly #close: RegExp;
  readonly #indent: RegExp;
  #chunks: readonly string[] = [];
  #lines: string[] = [];
  #lineChars = 0;
  #partial = "";
  #open = true;
  #position: number;

  constructor(opening: RegExpExecArray, start: number, id: number) {
    const [line, indent = "", fence = "```", info] = opening;
    this.#id = id;
    this.#lang = fenceLanguage(info);
    this.#close = new RegExp(`^ {0,3}${fence[0] ?? "`"}{${fence.length},}[ \\t]*$`);
    this.#indent = new RegExp(`^ {0,${indent.length}}`);
    this.#position = start + line.length;
  }

  advance(source: string, done: boolean): number | "more" | undefined {
    for (const before = this.#chunks; ;) {
      if (this.#chunks !== before) return "more";
      const end = source.indexOf("\n", this.#position);
      const line = source.slice(this.#position, end < 0 ? undefined : end);
      const closes = this.#close.test(line);
      if (end < 0 && !done) {
        this.#partial = closes ? "" : line.replace(this.#indent, "");
        return undefined;
      }
      this.#position = end < 0 ? source.length : end + 1;
      if (!closes && (end >= 0 || line)) this.#push(line.replace(this.#indent, ""), end >= 0);
      this.#partial = "";
      if (closes || end < 0) {
        this.#open = false;
        return this.#position;
      }
    }
  }

  #push(line: string, ended: boolean): void {
    this.#lines.push(ended ? line + "\n" : line);
    this.#lineChars += line.length;
    if (this.#lines.length < CHUNK_LINES && this.#lineChars < CHUNK_CHARS) return;
    this.#chunks = [...this.#chunks, this.#lines.join("")];
    this.#lines = [];
    this.#lineChars = 0;
  }

  block(): CodeBlock {
    const rest = this.#lines.join("") + this.#partial;
    return {
      kind: "code",
      id: this.#id,
      joined: false,
      lang: this.#lang,
      chunks: this.#chunks,
      rest,
      open: this.#open,
    };
  }
}

/** Text that starts at `start`, shown verbatim up to the next blank line. */
export class GrowingText implements Growing {
  readonly #id: number;
  readonly #joined: boolean;
  #chunks: readonly string[] = [];
  #rest = "";
  #position: number;

  constructor(start: number, id: number, joined: boolean) {
    this.#id = id;
    this.#joined = joined;
    this.#position = start;
  }

  advance(source: string, done: boolean): number | undefined {
    const blank = /\n[ \t]*\n/g;
    // The parsed part ends inside a line, so that no blank line is missed.
    blank.lastIndex = this.#position;
    const found = blank.exec(source);
    const end = found ? found.index + 1 : source.length;
    while (end - this.#position > CHUNK_CHARS) {
      const next = this.#position + CHUNK_CHARS;
      const lineEnd = source.lastIndexOf("\n", next);
      const cut = lineEnd > this.#position ? lineEnd : next;
      this.#chunks = [...this.#chunks, source.slice(this.#position, cut)];
      this.#position = cut;
    }
    this.#rest = source.slice(this.#position, end);
    if (!found && !done) return undefined;
    this.#position = end;
    return end;
  }

  block(): TextBlock {
    return { kind: "text", id: this.#id, joined: this.#joined, chunks: this.#chunks, rest: this.#rest };
  }
}

const CHUNK_ROWS_CHARS = 500;
const TABLE_WINDOW_CHARS = 6000;
/** A longer row ends the table. */
const MAX_ROW_CHARS = 16_384;

/** A table whose first two lines are `opening`; rows are lexed below a copy of them. */
export class GrowingTable implements Growing {
  readonly #id: number;
  readonly #opening: string;
  readonly #links: Links;
  #head = "";
  #chunks: readonly string[] = [];
  #rest = "";
  #position: number;

  constructor(opening: string, start: number, id: number, links: Links) {
    this.#id = id;
    this.#opening = opening;
    this.#links = links;
    this.#position = start + opening.length;
  }

  advance(source: string, done: boolean): number | "more" | undefined {
    const end = this.#windowEnd(source);
    if (end === undefined) {
      this.#rest = "";
      return this.#position;
    }
    const rows = source.slice(this.#position, end);
    const last = done && end === source.length;
    const chunk = chunkLength(rows);
    const { table, length } = this.#lex(chunk ? rows.slice(0, chunk) : rows);
    const ended = length < (chunk || rows.length) || (last && !chunk);
    if (chunk && !ended) {
      this.#chunks = [...this.#chunks, sanitizeRows(table.rows)];
      this.#rest = "";
      this.#position += chunk;
      return "more";
    }
    this.#rest = sanitizeRows(table.rows);
    if (!ended || (!last && this.#undecided(rows, length))) return undefined;
    return this.#position + length;
  }

  /** A window always contains a whole row, unless more text may follow; `undefined` if the row is too long. */
  #windowEnd(source: string): number | undefined {
    const end = Math.min(source.length, this.#position + TABLE_WINDOW_CHARS);
    if (end === source.length || source.slice(this.#position, end).includes("\n", CHUNK_ROWS_CHARS))
      return end;
    const lineEnd = source.indexOf("\n", this.#position + CHUNK_ROWS_CHARS);
    const longer = lineEnd < 0 ? source.length : lineEnd + 1;
    return longer - this.#position > MAX_ROW_CHARS ? undefined : longer;
  }

  /** Whether the line after the rows is incomplete: it may still become a row. */
  #undecided(rows: string, length: number): boolean {
    return rows.trimEnd().length > 0 && !rows.slice(length).includes("\n");
  }

  #lex(rows: string): { table: { rows: string }; length: number } {
    const token = lex(this.#opening + rows, this.#links, true)[0];
    if (token?.type !== "table") return { table: { rows: "" }, length: 0 };
    const table = tableRows(token as Tokens.Table);
    this.#head ||= sanitizeRows(table.head);
    return { table, length: token.raw.length - this.#opening.length };
  }

  block(): TableBlock {
    return {
      kind: "table",
      id: this.#id,
      joined: false,
      head: this.#head,
      chunks: this.#chunks,
      rest: this.#rest,
    };
  }
}

/** Length of the leading whole lines that reach the size of a chunk, or 0. */
function chunkLength(rows: string): number {
  return rows.indexOf("\n", CHUNK_ROWS_CHARS) + 1;
}
