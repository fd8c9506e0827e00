// The Markdown dialect: GFM without raw HTML, plus maths, citations and safe links; tokens in, unsanitised HTML out.
//
// A block has the direction of its first strong character: its view has `dir="auto"`. Code, formulas and bare addresses
// are left-to-right wherever they stand; the `dir` that says so also keeps them from deciding about their block.

import { Marked, type Links, type MarkedExtension, type Token, type Tokens } from "marked";
import remend from "remend";
import { BoundedLexer, plainToken } from "./bounds";

/** Longer formulas are plain text: this bounds how far an unclosed `$$` can reach. */
const MATH_LIMIT_CHARS = 3000;

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for element content and for quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

/** Returns the URL if a link may point there (http, https, mailto, `#…`, `/…`), else `undefined`. */
export function safeHref(address: string): string | undefined {
  const href = address.replaceAll("&amp;", "&").trim();
  // Browsers ignore control characters inside a scheme.
  if (/[\u0000-\u001f\u007f]/.test(href)) return undefined;
  return /^(?:https?:\/\/|mailto:|[#/])/i.test(href) && URL.canParse(href, "https://base.invalid")
    ? href
    : undefined;
}

const RASTER = /^data:image\/(?:png|jpe?g|gif|webp|avif);base64,[a-z0-9+/=]+$/i;

/** Whether the URL is an inline raster image, the only kind shown without a click. */
export function isInlineRaster(address: string): boolean {
  return RASTER.test(address);
}

/** Language of a fence: the first word of its info string, in lower case, with only harmless characters. */
export function fenceLanguage(info: string | undefined): string {
  return /^[\w+#.-]{1,30}/.exec(info?.trim() ?? "")?.[0].toLowerCase() ?? "";
}

/** Makes an image path such as `![](plots/rain.png)` absolute; returns other URLs unchanged. */
function rooted(address: string): string {
  const path = /^(?:\.\/)?([\p{L}\p{N}_][\p{L}\p{N}_ ./%()-]*\.(?:png|jpe?g|gif|webp))$/iu.exec(address)?.[1];
  return path === undefined ? address : `/${path}`;
}

function imageHtml(address: string, alt: string): string {
  const label = escapeHtml(alt);
  if (isInlineRaster(address)) return `<img src="${address}" alt="${label}">`;
  const href = safeHref(rooted(address));
  if (href === undefined || !/^(?:https?:\/)?\//i.test(href)) return label;
  // The component sets the button's label in the page's language.
  return `<button type="button" class="md-image" dir="auto" data-src="${escapeHtml(href)}" data-alt="${label}">${label}</button>`;
}

function codeHtml(text: string, lang: string): string {
  return (
    `<div class="md-code" dir="ltr"><div class="md-bar"><span>${lang}</span>` +
    `<button type="button" data-copy="">Copy</button></div>` +
    `<pre tabindex="0"><code data-lang="${lang}">${escapeHtml(text)}</code></pre></div>`
  );
}

function mathHtml(tex: string, display: boolean): string {
  const source = escapeHtml(tex);
  return display
    ? `<span class="md-math md-display" dir="ltr" data-tex="${source}">${source}</span>`
    : `<span class="md-math" dir="ltr" data-tex="${source}">${source}</span>`;
}

interface Formula extends Tokens.Generic {
  tex: string;
  display: boolean;
  open?: boolean;
}

/** The source being lexed if more text may follow: a formula that reaches its end may still close. */
let unfinished: string | undefined;

function lastCharacter(tokens: Token[]): string {
  return tokens.at(-1)?.raw.at(-1) ?? "";
}

/** `$…$` as pandoc parses it, ignoring the dollars of "US$5 and A$7". */
function dollarFormula(src: string, before: string): Formula | undefined {
  const match = /^\$(?![\s$])((?:\\.|[^$\n\\])+?)(?<!\s)\$(?!\d)/.exec(src);
  const tex = match?.[1];
  if (!match || tex === undefined || /[\p{L}\d]/u.test(before)) return undefined;
  if (/^\d/.test(tex) && /\s/.test(tex) && !/[\\^_=+<>{]/.test(tex)) return undefined;
  return { type: "mathInline", raw: match[0], tex, display: false };
}

const CLOSERS: Record<string, string> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };

/** For each closer, the last text that had none: its remainder has none either. */
const withoutCloser = new Map<string, string>();

function bracketFormula(src: string): Formula | undefined {
  const opener = src.slice(0, 2);
  const closer = CLOSERS[opener];
  if (closer === undefined || withoutCloser.get(closer)?.endsWith(src)) return undefined;
  const end = src.indexOf(closer, 2);
  if (end < 0) withoutCloser.set(closer, src);
  if (end < 0 || end + 2 > MATH_LIMIT_CHARS) return undefined;
  const inside = src.slice(2, end);
  const tex = inside.trim();
  if (!tex || /\n\s*\n/.test(inside) || (closer === "$$" && inside.includes("$"))) return undefined;
  return { type: "mathInline", raw: src.slice(0, end + 2), tex, display: opener !== "\\(" };
}

function blockFormula(src: string): Formula | undefined {
  const start = /^ {0,3}(\$\$|\\\[)/.exec(src);
  if (!start) return undefined;
  const close = start[1] === "$$" ? "$$" : "\\]";
  const end = src.indexOf(close, start[0].length);
  if (end < 0) {
    if (src.length > MATH_LIMIT_CHARS || !unfinished?.endsWith(src)) return undefined;
    return { type: "mathBlock", raw: src, tex: src.slice(start[0].length).trim(), display: true, open: true };
  }
  const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(end + 2));
  const tex = src.slice(start[0].length, end).trim();
  if (!rest || !tex || end > MATH_LIMIT_CHARS) return undefined;
  return { type: "mathBlock", raw: src.slice(0, end + 2) + rest[0], tex, display: true };
}

const extensions: MarkedExtension["extensions"] = [
  {
    name: "cite",
    level: "inline",
    tokenizer(src) {
      const match = /^\[(\d{1,3}(?:, ?\d{1,3})*)\](?![(:])/.exec(src);
      const list = match?.[1];
      if (!match || list === undefined || list in this.lexer.tokens.links) return undefined;
      return { type: "cite", raw: match[0], numbers: list.split(/, ?/) };
    },
    renderer: ({ numbers }) =>
      (numbers as string[])
        .map((n) => `<button type="button" class="md-cite" data-cite="${n}">${n}</button>`)
        .join(""),
  },
  {
    // The one HTML tag that models cannot do without, inside table cells.
    name: "lineBreak",
    level: "inline",
    tokenizer(src) {
      const match = /^<br ?\/?>/i.exec(src);
      return match ? { type: "lineBreak", raw: match[0] } : undefined;
    },
    renderer: () => "<br>",
  },
  {
    name: "mathInline",
    level: "inline",
    // Ordinary text ends at a backslash, a bracket and `<` anyway.
    start: (src) => src.indexOf("$"),
    tokenizer: (src, tokens) =>
      bracketFormula(src) ?? (src.startsWith("$") ? dollarFormula(src, lastCharacter(tokens)) : undefined),
    renderer: (token) => mathHtml((token as Formula).tex, (token as Formula).display),
  },
  {
    name: "mathBlock",
    level: "block",
    start: (src) => src.search(/\n {0,3}(?:\$\$|\\\[)/),
    tokenizer: (src) => blockFormula(src),
    renderer: (token) =>
      (token as Formula).open
        ? `<p class="md-source" dir="ltr">${escapeHtml((token as Formula).tex)}</p>`
        : `<p>${mathHtml((token as Formula).tex, true)}</p>`,
  },
  {
    // Created by the lexer itself when a bound is exceeded.
    name: "plain",
    renderer: ({ raw }) => `<p class="md-plain">${escapeHtml(raw)}</p>`,
  },
];

const marked = new Marked({
  gfm: true,
  extensions,
  renderer: {
    code: ({ text, lang }) => codeHtml(text, fenceLanguage(lang)),
    codespan: ({ text }) => `<code dir="ltr">${escapeHtml(text)}</code>`,
    listitem(item) {
      const open = item.task ? `<li class="md-todo">` : "<li>";
      return `${open}${this.parser.parse(item.tokens)}</li>\n`;
    },
    checkbox: ({ checked }) => `<span class="md-task">${checked ? "☑" : "☐"}</span> `,
    image: ({ href, text }) => imageHtml(href, text),
    link({ href, title, text, tokens, autolink }) {
      const label = autolink ? escapeHtml(text) : this.parser.parseInline(tokens);
      const safe = safeHref(href);
      if (safe === undefined) return label;
      const hint = title ? ` title="${escapeHtml(title)}"` : "";
      const direction = autolink ? ` dir="ltr"` : "";
      return `<a href="${escapeHtml(safe)}"${hint}${direction} target="_blank" rel="noreferrer noopener">${label}</a>`;
    },
    table(token) {
      const { head, rows } = tableRows(token);
      return `<div class="md-table"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>`;
    },
  },
});

/** Block tokens of a source. */
export interface LexedTokens extends Array<Token> {
  /**
   * The budget was exhausted before the end of this source, so blocks after the first may be plainer than necessary.
   */
  isExceeded?: boolean;
}

/**
 * Splits source into block tokens; `open` means more text may follow. `links` are the known definitions. The work is
 * proportional to the source, and it never throws: what cannot be parsed becomes a plain-text token.
 */
export function lex(source: string, links: Links, open: boolean): LexedTokens {
  const lexer = new BoundedLexer(marked.defaults, source);
  Object.assign(lexer.tokens.links, links);
  unfinished = open ? source : undefined;
  try {
    return Object.assign(lexer.lex(source), { isExceeded: lexer.isExceeded });
  } catch {
    return [plainToken(source)];
  }
}

/** Renders tokens to HTML that has yet to be sanitised. */
export function tokensToHtml(tokens: Token[]): string {
  return marked.parser(tokens);
}

/** Renders the head and the body rows of a table separately, so that a long table can grow by rows. */
export function tableRows(table: Tokens.Table): { head: string; rows: string } {
  const row = (cells: Tokens.TableCell[]): string => `<tr>${cells.map(cellHtml).join("")}</tr>`;
  return { head: row(table.header), rows: table.rows.map(row).join("") };
}

function cellHtml(cell: Tokens.TableCell): string {
  const tag = cell.header ? "th" : "td";
  const align = cell.align ? ` align="${cell.align}"` : "";
  return `<${tag}${align}>${tokensToHtml([{ type: "text", raw: cell.text, text: cell.text, tokens: cell.tokens }])}</${tag}>`;
}

/** References beyond this many definitions stay text: each parsed source gets a copy of them. */
const MAX_DEFINITIONS = 500;

/** Collects link definitions of complete tokens into `links`; the first definition of a name wins. */
export function collectLinks(tokens: Token[], links: Links): void {
  let count = Object.keys(links).length;
  if (count >= MAX_DEFINITIONS) return;
  marked.walkTokens(tokens, (token) => {
    if (token.type !== "def" || count >= MAX_DEFINITIONS) return;
    const { tag, href, title } = token as Tokens.Def;
    if (tag in links) return;
    links[tag] = { href, title };
    count += 1;
  });
}

/** Closes what is still open at the end of a growing block, so that `**bol` is bold at once. */
export function closeOpenMarks(source: string): string {
  return remend(source, {
    linkMode: "text-only",
    htmlTags: false,
    comparisonOperators: false,
    singleTilde: false,
    katex: false,
  });
}
