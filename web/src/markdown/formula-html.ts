// Typesets one formula with KaTeX, on the page for a short formula and in a worker for others. The result is not
// sanitised.

import katex from "katex";

/** KaTeX's own macros expand to little each time; those of a formula could make it endless. */
const MAX_EXPANSIONS = 5000;
const MAX_OWN_EXPANSIONS = 200;
const DEFINES_MACROS = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;

/** The browser lays out this many tags in one task; KaTeX writes about five for a character. */
const MAX_TAGS = 4000;

/** Names for references from elsewhere, which KaTeX does not know. */
const LABEL = /\\label\{[^{}]*\}/g;

export interface FormulaRequest {
  tex: string;
  display: boolean;
}

/** Whether the formula defines macros, with which a short source can be a very long formula. */
export function definesMacros(tex: string): boolean {
  return DEFINES_MACROS.test(tex);
}

function render({ tex, display }: FormulaRequest, output: "htmlAndMathml" | "mathml"): string {
  return katex.renderToString(tex.replace(LABEL, ""), {
    displayMode: display,
    output,
    throwOnError: true,
    strict: false,
    trust: false,
    maxExpand: definesMacros(tex) ? MAX_OWN_EXPANSIONS : MAX_EXPANSIONS,
    maxSize: 20,
  });
}

function isLayoutable(html: string): boolean {
  return html.split("<", MAX_TAGS + 2).length <= MAX_TAGS + 1;
}

/** The formula as HTML; as MathML alone, a sixth of it, if that is too much; `""` if it is invalid or still too much. */
export function formulaHtml(formula: FormulaRequest): string {
  try {
    const html = render(formula, "htmlAndMathml");
    if (isLayoutable(html)) return html;
    const mathMl = render(formula, "mathml");
    return isLayoutable(mathMl) ? mathMl : "";
  } catch {
    // Not valid TeX: the source stays visible.
    return "";
  }
}
