// Bounds the depth and the work of parsing Markdown: what exceeds them stays plain text with its words intact.

import { endsQuoted, openingOf } from "./emphasis";
import { cellCount, escapeFormulaPipes } from "./formula-syntax";
import { Lexer, Tokenizer, type MarkedOptions, type Token, type Tokens, type TokensList } from "marked";

/** Maximum nesting of quotes and lists, and of inline marks. */
export const MAX_DEPTH = 24;

/** Longer inline content is parsed in runs that end at a space, so that no search goes further than this. */
export const MAX_RUN_CHARS = 4096;

/** Characters scanned for closing emphasis, per character of a run and per source as a whole. */
const SCANS_PER_CHAR = 24;
const MAX_SCANS = 200_000;

/** Characters given to nested quotes and lists, per character of the source: they are re-read at each level. */
const BLOCK_SCANS_PER_CHAR = 64;
const MIN_BLOCK_SCANS = 65_536;

const MAX_COLUMNS = 200;
/** Cells that a table may have beyond its characters: short rows are padded with empty cells. */
const SPARE_CELLS = 2000;

/** Source shown verbatim. */
export interface Plain extends Tokens.Generic {
  type: "plain";
  raw: string;
  text: string;
}

export function plainToken(source: string): Plain {
  return { type: "plain", raw: source, text: source };
}

/** Remaining budget for emphasis scans; global, because a regular expression has no other place to count. */
class Meter {
  #run = 0;
  #total = 0;

  start(): void {
    this.#total = MAX_SCANS;
  }

  startRun(chars: number): void {
    this.#run = Math.min(this.#total, (chars + MIN_RUN_CHARS) * SCANS_PER_CHAR);
  }

  get isSpent(): boolean {
    return this.#run <= 0;
  }

  charge(chars: number): void {
    this.#run -= chars;
    this.#total -= chars;
  }

  get isExceeded(): boolean {
    return this.#total <= 0;
  }
}

const MIN_RUN_CHARS = 16;
/** Fixed cost of a search in addition to the characters scanned, in characters. */
const SEARCH_CHARS = 8;
const meter = new Meter();

/** Searches for the end of emphasis until the budget is exhausted. */
class MeteredRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    if (meter.isSpent) return null;
    const from = this.lastIndex;
    const match = super.exec(text);
    meter.charge((match ? match.index + match[0].length : text.length) - from + SEARCH_CHARS);
    return match;
  }
}

/** The local part of an email address has at most 64 characters (RFC 5321); every position of a text is tried. */
function withShortAddresses(rule: RegExp): RegExp {
  return new RegExp(rule.source.replaceAll("]+@", "]{1,64}@").replaceAll("]+(@)", "]{1,64}(@)"), rule.flags);
}

const gfm = Lexer.rules.inline.gfm;
const inlineRules = {
  ...gfm,
  text: withShortAddresses(gfm.text),
  url: withShortAddresses(gfm.url),
  emStrongRDelimAst: new MeteredRegExp(gfm.emStrongRDelimAst),
  emStrongRDelimUnd: new MeteredRegExp(gfm.emStrongRDelimUnd),
  delRDelim: new MeteredRegExp(gfm.delRDelim),
};

class BoundedTokenizer extends Tokenizer {
  // Without these two rules a `<tag>` is ordinary text, and Markdown inside it is still parsed.
  override html(): undefined {
    return undefined;
  }

  override tag(): undefined {
    return undefined;
  }

  override table(source: string): Tokens.Table | undefined {
    const delimiters = DELIMITER_ROW.exec(source)?.[1];
    if (delimiters === undefined) return undefined;
    (this.lexer as BoundedLexer).chargeBlocks(source.length);
    if (isOversized(source, delimiters)) return undefined;
    return source.includes("$") ? this.#tableWithFormulas(source, delimiters) : super.table(source);
  }

  /** A pipe inside a formula does not end the cell where the row would have too many of them. */
  #tableWithFormulas(source: string, delimiters: string): Tokens.Table | undefined {
    const columns = cellCount(delimiters);
    const lines = source.split("\n");
    const escaped = lines.map((line) => escapeFormulaPipes(line, columns));
    const table = super.table(escaped.join("\n"));
    if (!table) return undefined;
    const count = table.raw.split("\n").length;
    return { ...table, raw: lines.slice(0, count).join("\n") };
  }

  override emStrong(source: string, masked: string, previous = ""): Tokens.Em | Tokens.Strong | undefined {
    const at = masked.length - source.length;
    const opening = openingOf(source, masked.slice(Math.max(0, at - 3), at));
    if (opening === "never") return undefined;
    const found = super.emStrong(source, masked, opening === "ordinary" ? previous : "");
    return opening === "quoted" && found && !endsQuoted(found.text) ? undefined : found;
  }

  /** Only two tildes: one is "about", as in "~3 or ~4". */
  override del(source: string, masked: string, previous = ""): Tokens.Del | undefined {
    if (!source.startsWith("~~")) return undefined;
    const at = masked.length - source.length;
    const opening = openingOf(source, masked.slice(Math.max(0, at - 3), at));
    return super.del(source, masked, opening === "ordinary" ? previous : "");
  }

  /** A bare address ends before Chinese and Japanese punctuation. */
  override url(source: string): Tokens.Link | undefined {
    const address = BARE_ADDRESS.exec(source)?.[0];
    return super.url(address ?? source);
  }
}

const BARE_ADDRESS =
  /^(?:https?:\/\/|ftp:\/\/|www\.)[^\s<\u3000-\u3003\u3008-\u3011\u3014-\u301f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\u2018-\u201d\u2026]*/i;
const DELIMITER_ROW = /^[^\n]*\n {0,3}([|: -]+)(?:\n|$)/;

/** Whether the table that starts here is too wide, or has far more cells than its source has characters. */
function isOversized(source: string, delimiters: string): boolean {
  const columns = delimiters.split("|").length;
  if (columns > MAX_COLUMNS) return true;
  const end = source.search(/\n[ \t]*\n/);
  const chars = end < 0 ? source.length : end;
  if (columns * chars < SPARE_CELLS) return false;
  let rows = 0;
  for (let at = source.indexOf("\n"); at >= 0 && at < chars; at = source.indexOf("\n", at + 1)) rows += 1;
  return columns * rows > chars + SPARE_CELLS;
}

const tokenizer = new BoundedTokenizer();

/** A lexer whose work is proportional to its source. */
export class BoundedLexer extends Lexer {
  readonly #maxBlockScans: number;
  #blockScans = 0;
  #blockDepth = 0;
  #inlineDepth = 0;

  constructor(options: MarkedOptions, source: string) {
    super({ ...options, tokenizer });
    tokenizer.rules = { ...tokenizer.rules, inline: inlineRules };
    this.#maxBlockScans = Math.max(MIN_BLOCK_SCANS, source.length * BLOCK_SCANS_PER_CHAR);
    meter.start();
  }

  /** Whether anything was left as plain text because the budget of the whole source was exhausted. */
  get isExceeded(): boolean {
    return meter.isExceeded || this.#isBlockWorkSpent;
  }

  get #isBlockWorkSpent(): boolean {
    return this.#blockScans > this.#maxBlockScans;
  }

  chargeBlocks(chars: number): void {
    this.#blockScans += chars;
  }

  override blockTokens(source: string, tokens?: Token[] | TokensList, isClipped?: boolean): TokensList {
    const list = (tokens ?? []) as TokensList;
    if (this.#blockDepth > 0) this.chargeBlocks(source.length);
    if (this.#blockDepth >= MAX_DEPTH || this.#isBlockWorkSpent) {
      if (source) list.push(plainToken(source));
      this.state.top = true;
      return list;
    }
    this.#blockDepth += 1;
    try {
      super.blockTokens(source, list, isClipped);
      return list;
    } finally {
      this.#blockDepth -= 1;
    }
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (this.#inlineDepth >= MAX_DEPTH) {
      tokens.push(textToken(source));
      return tokens;
    }
    this.#inlineDepth += 1;
    try {
      if (this.#inlineDepth > 1) return super.inlineTokens(source, tokens);
      for (const { text, isPlain } of runsOf(source)) {
        meter.startRun(text.length);
        if (isPlain) tokens.push(textToken(text));
        else super.inlineTokens(text, tokens);
      }
      return tokens;
    } finally {
      this.#inlineDepth -= 1;
    }
  }
}

function textToken(text: string): Tokens.Text {
  return { type: "text", raw: text, text, escaped: false };
}

interface Run {
  text: string;
  /** A word that is too long to parse. */
  isPlain: boolean;
}

/** Chinese and Japanese have no spaces between words. */
const SPACE = /[\s\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]/;

/** An embedded image: longer than any word, with nothing in it to parse. */
const PICTURE = /!\[[^[\]\n]{0,500}\]\(data:image\/[a-z]+;base64,[A-Za-z0-9+/=]+\)/g;

/** Splits the inline content of a paragraph, cell or item into runs of bounded length. Nothing is lost or added. */
export function runsOf(source: string): Run[] {
  if (source.length <= MAX_RUN_CHARS) return [{ text: source, isPlain: false }];
  const runs: Run[] = [];
  let at = 0;
  for (const picture of source.matchAll(PICTURE)) {
    pushRuns(source.slice(at, picture.index), runs);
    runs.push({ text: picture[0], isPlain: false });
    at = picture.index + picture[0].length;
  }
  pushRuns(source.slice(at), runs);
  return runs;
}

function pushRuns(source: string, runs: Run[]): void {
  let at = 0;
  while (source.length - at > MAX_RUN_CHARS) {
    let end = at + MAX_RUN_CHARS;
    while (end > at && !SPACE.test(source.charAt(end - 1))) end -= 1;
    const isPlain = end === at;
    if (isPlain) {
      const next = source.slice(at).search(SPACE);
      end = next < 0 ? source.length : at + next;
    }
    runs.push({ text: source.slice(at, end), isPlain });
    at = end;
  }
  if (at < source.length) runs.push({ text: source.slice(at), isPlain: false });
}
