// Typesets formulas with KaTeX, loaded on demand with the first formula, and caches them.

import { sanitizeMath } from "./sanitize";
import { TimedWorker } from "./timed-worker";

type FormulaHtml = typeof import("./formula-html");

let loaded: FormulaHtml | undefined;
let loading: Promise<void> | undefined;
/** Sanitised formulas by source; empty if a formula is shown as source. */
const cache = new Map<string, string | Promise<string>>();
const CACHE_FORMULAS = 500;

/** Longer formulas are typeset in the worker. */
const MAX_SHORT_CHARS = 200;
const TIMEOUT_MS = 2000;

const worker = new TimedWorker<{ tex: string; display: boolean }, string>(
  () => new Worker(new URL("./formula.worker.ts", import.meta.url), { type: "module" }),
  TIMEOUT_MS,
);

/** Whether formulas can be typeset. */
export function mathsReady(): boolean {
  return loaded !== undefined;
}

/** Loads KaTeX with its style sheet and fonts. */
export function loadMaths(): Promise<void> {
  loading ??= Promise.all([import("./formula-html"), import("katex/dist/katex.min.css")]).then(([module]) => {
    loaded = module;
  });
  return loading;
}

/**
 * The sanitised formula; empty if it is invalid, too large or takes too long. A short or known one immediately, others
 * from the worker. KaTeX must be loaded.
 */
export function typeset(tex: string, display: boolean): string | Promise<string> {
  const key = (display ? "d" : "i") + tex;
  const known = cache.get(key);
  if (known !== undefined) return known;
  if (!loaded) return "";
  const made =
    tex.length <= MAX_SHORT_CHARS && !loaded.definesMacros(tex)
      ? sanitizeMath(loaded.formulaHtml({ tex, display }))
      : typesetInWorker(key, tex, display);
  remember(key, made);
  return made;
}

async function typesetInWorker(key: string, tex: string, display: boolean): Promise<string> {
  const html = sanitizeMath((await worker.ask({ tex, display })) ?? "");
  remember(key, html);
  return html;
}

function remember(key: string, html: string | Promise<string>): void {
  if (cache.size >= CACHE_FORMULAS && !cache.has(key)) cache.delete(cache.keys().next().value ?? "");
  cache.set(key, html);
}
