// Typesets formulas with KaTeX, loaded on demand with the first formula.

import { sanitizeMath } from "./sanitize";

type Katex = typeof import("katex").default;

let katex: Katex | undefined;
let loading: Promise<void> | undefined;
const cache = new Map<string, string>();
const CACHE_FORMULAS = 500;

/** KaTeX's own macros expand to little each time; those of a formula could make it endless. */
const MAX_EXPANSIONS = 5000;
const MAX_OWN_EXPANSIONS = 200;
const DEFINES_MACROS = /\\(?:[gex]?def|let|futurelet|(?:re)?newcommand|providecommand)(?![a-zA-Z])/;

/** Names for references from elsewhere, which KaTeX does not know. */
const LABEL = /\\label\{[^{}]*\}/g;

/** Whether formulas can be typeset synchronously. */
export function mathsReady(): boolean {
  return katex !== undefined;
}

/** Loads KaTeX with its style sheet and fonts. */
export function loadMaths(): Promise<void> {
  loading ??= Promise.all([import("katex"), import("katex/dist/katex.min.css")]).then(([module]) => {
    katex = module.default;
  });
  return loading;
}

/** Returns the sanitised formula, or `undefined` if it is not valid TeX or KaTeX is not loaded. */
export function typeset(tex: string, display: boolean): string | undefined {
  const key = (display ? "d" : "i") + tex;
  const known = cache.get(key);
  if (known !== undefined) return known || undefined;
  if (!katex) return undefined;
  let html = "";
  try {
    html = sanitizeMath(
      katex.renderToString(tex.replace(LABEL, ""), {
        displayMode: display,
        throwOnError: true,
        strict: false,
        trust: false,
        maxExpand: DEFINES_MACROS.test(tex) ? MAX_OWN_EXPANSIONS : MAX_EXPANSIONS,
        maxSize: 20,
      }),
    );
  } catch {
    // Not valid TeX: the source stays visible.
  }
  if (cache.size >= CACHE_FORMULAS) cache.delete(cache.keys().next().value ?? "");
  cache.set(key, html);
  return html || undefined;
}
