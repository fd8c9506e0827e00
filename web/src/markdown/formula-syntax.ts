// Formulas in Markdown: `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and LaTeX environments, told apart from money, shell variables
// and escaped brackets.

import type { Token, Tokens } from "marked";

/** Longer formulas are plain text: this bounds how far an unclosed `$$` can reach. */
const MAX_FORMULA_CHARS = 6000;

export interface Formula extends Tokens.Generic {
  tex: string;
  display: boolean;
  open?: boolean;
}

/** Whether the text is more likely TeX than words: it has a command or an operator, or only single letters. */
function looksLikeMaths(tex: string): boolean {
  if (/[\\^_=+<>{}|\u2200-\u22ff\u00d7\u00f7\u00b1√∑∫π]/.test(tex)) return true;
  return (
    /[\p{L}\p{N}]/u.test(tex) &&
    !/\p{L}{2}/u.test(tex.replace(/\b(?:sin|cos|tan|log|ln|exp|max|min|mod)\b/g, ""))
  );
}

/** Whether brackets with a backslash hold words, as in `\[Your Name\]`, or are an escaped reference, as `\[1\]`. */
function isEscapedText(inside: string, opener: string): boolean {
  if (opener === "\\[" && /^\d+$/.test(inside)) return true;
  const tex = inside.trim();
  // The sides of a triangle, or a unit.
  if (opener === "\\(" && /^[A-Za-z]{1,3}$/.test(tex)) return false;
  return !looksLikeMaths(tex);
}

/** `$…$` as pandoc parses it, next to letters of other scripts too, and without money or variables. */
export function dollarFormula(src: string, before: string): Formula | undefined {
  const match = /^\$(?![\s$])((?:\\.|[^$\n\\])+?)(?<!\s)\$(?!\d)/.exec(src);
  const tex = match?.[1];
  if (!match || tex === undefined) return undefined;
  // Not the dollars of "US$5 and A$7", nor those of 5$ and 10$.
  if (/[A-Za-z]/.test(before) && !/[\\^]/.test(tex)) return undefined;
  if (/\d/.test(before) && !/^[A-Za-z\\]\S*$/.test(tex)) return undefined;
  if (/^\d/.test(tex) && /\s/.test(tex) && !/[\\^_=+<>{]/.test(tex)) return undefined;
  // Not the variables of $HOME/bin:$PATH.
  if (/[A-Za-z]/.test(src.charAt(match[0].length)) && !looksLikeMaths(tex)) return undefined;
  return { type: "mathInline", raw: match[0], tex, display: false };
}

const CLOSERS: Record<string, string> = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };

/** For each closer, the last text that had none: its remainder has none either. */
const withoutCloser = new Map<string, string>();

export function bracketFormula(src: string): Formula | undefined {
  const opener = src.slice(0, 2);
  const closer = CLOSERS[opener];
  if (closer === undefined || withoutCloser.get(closer)?.endsWith(src)) return undefined;
  const end = src.indexOf(closer, 2);
  if (end < 0) withoutCloser.set(closer, src);
  if (end < 0 || end + 2 > MAX_FORMULA_CHARS) return undefined;
  const inside = src.slice(2, end);
  const tex = inside.trim();
  if (!tex || /\n\s*\n/.test(inside)) return undefined;
  if (closer === "$$" ? inside.includes("$") : isEscapedText(inside, opener)) return undefined;
  return { type: "mathInline", raw: src.slice(0, end + 2), tex, display: opener !== "\\(" };
}

/** Environments that are formulas without any marks around them. */
const ENVIRONMENT = /^ {0,3}\\begin\{((?:align|alignat|equation|gather|multline)\*?)\}/;

/** Position of the first line that may start a block formula. */
export function blockFormulaStart(src: string): number {
  return src.search(/\n {0,3}(?:\$\$|\\\[|\\begin\{(?:align|equation|gather|multline))/);
}

/** `unfinished` is the source being lexed if more text may follow: a formula that reaches its end may still close. */
export function blockFormula(src: string, unfinished: string | undefined): Formula | undefined {
  const environment = ENVIRONMENT.exec(src);
  const start = environment ?? /^ {0,3}(\$\$|\\\[)/.exec(src);
  if (!start) return undefined;
  const name = start[1] ?? "";
  const close = environment ? `\\end{${name}}` : name === "$$" ? "$$" : "\\]";
  const from = environment ? 0 : start[0].length;
  const end = src.indexOf(close, start[0].length);
  if (end < 0) {
    if (src.length > MAX_FORMULA_CHARS || !unfinished?.endsWith(src)) return undefined;
    return { type: "mathBlock", raw: src, tex: src.slice(from).trim(), display: true, open: true };
  }
  const after = end + close.length;
  const rest = /^[ \t]*(?:\n|$)/.exec(src.slice(after));
  const inside = src.slice(from, environment ? after : end);
  const tex = inside.trim();
  if (!rest || !tex || end > MAX_FORMULA_CHARS) return undefined;
  if (close === "\\]" && isEscapedText(inside, "\\[")) return undefined;
  return { type: "mathBlock", raw: src.slice(0, after) + rest[0], tex, display: true };
}

/** Characters before the next token, at most so many. */
export function lastCharacters(tokens: Token[], most: number): string {
  let before = "";
  for (let at = tokens.length - 1; at >= 0 && before.length < most; at -= 1)
    before = (tokens[at]?.raw ?? "").slice(-most) + before;
  return before.slice(-most);
}

/** Character before the next token. */
export function lastCharacter(tokens: Token[]): string {
  return tokens.at(-1)?.raw.at(-1) ?? "";
}

/** A formula in a table row: `$`, no space inside, and a pipe that would split it. */
const IN_ROW = /\$(?![\s$])(?:\\.|[^$\\\n])+?(?<!\s)\$(?!\d)/g;

/** Escapes the pipes of formulas in a row that has more cells than the table has columns. */
export function escapeFormulaPipes(row: string, columns: number): string {
  if (!row.includes("$") || cellCount(row) <= columns) return row;
  const escaped = row.replace(IN_ROW, (formula) => formula.replace(/(?<!\\)\|/g, "\\|"));
  return cellCount(escaped) === columns ? escaped : row;
}

/** Number of cells of a table row. */
export function cellCount(row: string): number {
  const inner = row.trim().replace(/^\||(?<!\\)\|$/g, "");
  return inner.split(/(?<!\\)\|/).length;
}
