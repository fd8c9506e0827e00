// The HTML that models write in Markdown: inline tags without attributes, and `<details>`. Every other tag is text.
// Nothing of a tag but its name reaches the output.

import type { MarkedExtension, Token, Tokens } from "marked";

/** Tags that only change how their content looks. */
const NAMES = ["sub", "sup", "kbd", "mark", "u", "b", "strong", "i", "em", "s", "del", "ins", "small"];
const TAG = new RegExp(`^<(${NAMES.join("|")})>`, "i");
const ANY_TAG = new RegExp(`<(/?)(${NAMES.join("|")})>`, "gi");

/** How far a tag may reach. */
const MAX_TAG_CHARS = 1000;

/** The last text without a closing tag of this name: its remainder has none either. */
const withoutCloser = new Map<string, string>();

interface Tag extends Tokens.Generic {
  tag: string;
  tokens: Token[];
}

/** A `<details>` at the start of a line, with its summary. */
const DETAILS = /^ {0,3}<details(?: open)?>\s*(?:<summary>([^\n]{0,500}?)<\/summary>)?/i;
const DETAILS_TAG = /<(\/?)details(?: open)?>/gi;
/** With more inside each other, the outer ones are text: most of them never close. */
const MAX_NESTED_DETAILS = 3;

export interface Details extends Tokens.Generic {
  summary: Token[];
  tokens: Token[];
}

/** Position behind the matching `</details>`, or -1; `undefined` if there are too many inside. */
function detailsEnd(src: string): number | undefined {
  let depth = 0;
  let most = 0;
  for (const match of src.matchAll(DETAILS_TAG)) {
    depth += match[1] ? -1 : 1;
    most = Math.max(most, depth);
    if (most > MAX_NESTED_DETAILS) return undefined;
    if (depth === 0) return match.index + match[0].length;
  }
  return -1;
}

export interface DetailsRead {
  /** They are text, after one that never closed. */
  isText: boolean;
  /** The source being lexed if more text may follow. */
  unfinished: string | undefined;
}

export function htmlExtensions(read: () => DetailsRead): MarkedExtension["extensions"] {
  return [
    {
      // What models cannot do without inside table cells.
      name: "lineBreak",
      level: "inline",
      tokenizer(src) {
        const match = /^<br ?\/?>/i.exec(src);
        return match ? { type: "lineBreak", raw: match[0] } : undefined;
      },
      renderer: () => "<br>",
    },
    {
      name: "tag",
      level: "inline",
      tokenizer(src): Tag | undefined {
        const open = TAG.exec(src);
        const tag = open?.[1]?.toLowerCase();
        if (!open || tag === undefined || withoutCloser.get(tag)?.endsWith(src)) return undefined;
        const from = open[0].length;
        const closer = new RegExp(`</${tag}>`, "i").exec(src.slice(from, from + MAX_TAG_CHARS));
        if (!closer) {
          if (src.length <= MAX_TAG_CHARS) withoutCloser.set(tag, src);
          return undefined;
        }
        const inside = src.slice(from, from + closer.index);
        const raw = src.slice(0, from + closer.index + closer[0].length);
        return { type: "tag", raw, tag, text: inside, tokens: this.lexer.inlineTokens(inside) };
      },
      renderer(token) {
        const { tag, tokens } = token as Tag;
        return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
      },
    },
    {
      name: "details",
      level: "block",
      start: (src) => src.search(/\n {0,3}<details/i),
      tokenizer(src): Details | undefined {
        const start = DETAILS.exec(src);
        const { isText, unfinished } = read();
        if (!start || isText) return undefined;
        const end = detailsEnd(src);
        if (end === undefined || (end < 0 && !unfinished?.endsWith(src))) return undefined;
        const whole = end < 0 ? src : src.slice(0, end);
        const inside = whole.slice(start[0].length, end < 0 ? undefined : whole.lastIndexOf("<"));
        const rest = end < 0 ? "" : (/^[ \t]*(?:\n|$)/.exec(src.slice(end))?.[0] ?? "");
        const summary: Token[] = [];
        this.lexer.inline(start[1] ?? "", summary);
        const { top } = this.lexer.state;
        this.lexer.state.top = true;
        const tokens = this.lexer.blockTokens(inside, []);
        this.lexer.state.top = top;
        return { type: "details", raw: whole + rest, summary, tokens, text: inside };
      },
      childTokens: ["summary", "tokens"],
      renderer(token) {
        const { summary, tokens } = token as Details;
        const label = summary.length > 0 ? this.parser.parseInline(summary) : "…";
        return `<details><summary>${label}</summary>${this.parser.parse(tokens)}</details>\n`;
      },
    },
  ];
}

const MAX_CLOSED = 8;

/** Closes the tags that a growing text has opened, and leaves out half a tag at its end. */
export function closeOpenTags(source: string): string {
  const half = /<\/?([a-z]{0,6})$/i.exec(source);
  const isHalf =
    half && [...NAMES, "br", "details"].some((name) => name.startsWith((half[1] ?? "").toLowerCase()));
  const whole = isHalf ? source.slice(0, half.index) : source;
  if (!whole.includes("<")) return whole;
  const open: string[] = [];
  const visible = whole.slice(-MAX_TAG_CHARS).replace(/`[^`]*`/g, "");
  for (const [, slash, name = ""] of visible.matchAll(ANY_TAG)) {
    if (!slash) open.push(name.toLowerCase());
    else if (open.at(-1) === name.toLowerCase()) open.pop();
  }
  if (open.length > MAX_CLOSED) return whole;
  return (
    whole +
    open
      .reverse()
      .map((name) => `</${name}>`)
      .join("")
  );
}
