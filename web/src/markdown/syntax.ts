// The Markdown dialect: GFM with few HTML tags, plus maths, citations, footnotes, alerts and safe links; tokens in,
// unsanitised HTML out.
//
// A block has the direction of its first strong character: its view has `dir="auto"`. Code, formulas and bare addresses
// are left-to-right wherever they stand; the `dir` that says so also keeps them from deciding about their block.

import { Marked, type Links, type MarkedExtension, type Token, type Tokens } from "marked";
import remend from "remend";
import { withBase } from "../api/base.ts";
import { isCitation, MAX_BEFORE } from "../citation-marks";
import { BoundedLexer, plainToken } from "./bounds";
import { joinLines, maskClosers, PYTHON_NAME } from "./emphasis";
import { escapeHtml, escapeText } from "./escape";
import { footnoteExtensions, footnoteKey } from "./footnotes";
import {
  blockFormula,
  blockFormulaStart,
  bracketFormula,
  dollarFormula,
  lastCharacter,
  lastCharacters,
  type Formula,
} from "./formula-syntax";
import { cutLongWords } from "./long-words";
import { closeOpenTags, htmlExtensions, type DetailsRead } from "./inline-html";

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

/** The source being lexed if more text may follow. */
let unfinished: string | undefined;

/** How `<details>` are read now. */
let detailsRead: DetailsRead = { isText: false, unfinished };

/** The first line of a quote that is an alert, as GitHub has them. */
const ALERT = /^\[!(note|tip|important|warning|caution)\](?:\n|$)/i;

/** The quote without that line, and the alert's kind; `undefined` for an ordinary quote. */
function asAlert(tokens: Token[]): { kind: string; tokens: Token[] } | undefined {
  const [first, ...rest] = tokens;
  if (first?.type !== "paragraph") return undefined;
  const [text, ...others] = (first as Tokens.Paragraph).tokens;
  const match = text?.type === "text" ? ALERT.exec(text.raw) : null;
  const kind = match?.[1]?.toLowerCase();
  if (!text || !match || kind === undefined) return undefined;
  const left = { ...text, text: (text as Tokens.Text).text.slice(match[0].length) };
  const paragraph = { ...first, tokens: [left, ...others] };
  const isEmpty = left.text.trim() === "" && others.length === 0;
  return { kind, tokens: isEmpty ? rest : [paragraph, ...rest] };
}

const extensions: MarkedExtension["extensions"] = [
  {
    name: "cite",
    level: "inline",
    tokenizer(src, tokens) {
      const match = /^\[([1-9]\d{0,2})\]/.exec(src);
      const number = match?.[1];
      if (!match || number === undefined || number in this.lexer.tokens.links) return undefined;
      const next = /^\[(\d{1,3})\]/.exec(src.slice(match[0].length))?.[1];
      if (this.lexer.state.inLink || (next !== undefined && next in this.lexer.tokens.links))
        return undefined;
      return isCitation(lastCharacters(tokens, MAX_BEFORE), src.slice(match[0].length, match[0].length + 2))
        ? { type: "cite", raw: match[0], number }
        : undefined;
    },
    // The component makes buttons of those that have sources.
    renderer: ({ raw, number }) => `<span data-cites="${String(number)}">${raw}</span>`,
  },
  {
    name: "pythonName",
    level: "inline",
    tokenizer(src) {
      const raw = PYTHON_NAME.exec(src)?.[0];
      return raw === undefined ? undefined : { type: "text", raw, text: raw };
    },
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
    start: blockFormulaStart,
    tokenizer: (src) => blockFormula(src, unfinished),
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
  ...(htmlExtensions(() => detailsRead) ?? []),
  ...(footnoteExtensions ?? []),
];

const marked = new Marked({
  gfm: true,
  extensions,
  hooks: { emStrongMask: maskClosers },
  renderer: {
    text(token) {
      if ("tokens" in token && token.tokens) return this.parser.parseInline(token.tokens);
      return "escaped" in token && token.escaped ? token.text : joinLines(escapeText(token.text));
    },
    blockquote({ tokens }) {
      const alert = asAlert(tokens);
      if (!alert) return `<blockquote>\n${this.parser.parse(tokens)}</blockquote>\n`;
      const title = `<p class="md-alert-title" data-alert="${alert.kind}">${alert.kind}</p>`;
      return `<blockquote class="md-alert md-alert-${alert.kind}">\n${title}${this.parser.parse(alert.tokens)}</blockquote>\n`;
    },
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
      const address = /^\/(?![/\\])/.test(safe) ? withBase(safe) : safe;
      return `<a href="${escapeHtml(address)}"${hint}${direction} target="_blank" rel="noreferrer noopener">${label}</a>`;
    },
    table(token) {
      const { head, rows } = tableRows(token);
      // Inside a list or quote; the component sets the labels in the page's language.
      return (
        `<div class="md-tablebox"><div class="md-table" tabindex="0"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>` +
        `<div class="md-tools"><button type="button" data-table="csv"></button><button type="button" data-table="markdown"></button></div></div>`
      );
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
 * Splits source into block tokens; `open` means more text may follow. `links` are the known definitions.
 * With `isDetailsText`, `<details>` is text. The work is
 * proportional to the source, and it never throws: what cannot be parsed becomes a plain-text token.
 */
export function lex(source: string, links: Links, open: boolean, isDetailsText = false): LexedTokens {
  const lexer = new BoundedLexer(marked.defaults, source);
  Object.assign(lexer.tokens.links, links);
  unfinished = open ? source : undefined;
  detailsRead = { isText: isDetailsText, unfinished };
  try {
    return Object.assign(lexer.lex(source), { isExceeded: lexer.isExceeded });
  } catch {
    return [plainToken(source)];
  }
}

/** Renders tokens to HTML that has yet to be sanitised. */
export function tokensToHtml(tokens: Token[]): string {
  return cutLongWords(marked.parser(tokens));
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
    const footnote = footnoteKey(token);
    if ((token.type !== "def" && footnote === undefined) || count >= MAX_DEFINITIONS) return;
    const { tag, href, title } =
      footnote === undefined ? (token as Tokens.Def) : { tag: footnote, href: "", title: "" };
    if (tag in links) return;
    links[tag] = { href, title };
    count += 1;
  });
}

/** Closes what is still open at the end of a growing block, so that `**bol` is bold at once. */
export function closeOpenMarks(source: string): string {
  const closed = remend(source, {
    linkMode: "text-only",
    htmlTags: false,
    comparisonOperators: false,
    singleTilde: false,
    katex: false,
  });
  return closeOpenTags(closed);
}
