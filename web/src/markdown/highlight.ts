// Requests highlighted code from the worker, caches the results, and gives up on a grammar that hangs.

import type { ColourAnswer, ColourRequest } from "./colour.worker";
import { cutLongWords } from "./long-words";
import { sanitizeHighlight } from "./sanitize";
import { TimedWorker } from "./timed-worker";

const TIMEOUT_MS = 4000;
const LIMIT_CHARS = 200_000;
const CACHE_CHARS = 400_000;

const worker = new TimedWorker<ColourRequest, ColourAnswer>(
  () => new Worker(new URL("./colour.worker.ts", import.meta.url), { type: "module" }),
  TIMEOUT_MS,
);

/** Newest last; the oldest entries are evicted when the total of source characters exceeds the limit. */
const cache = new Map<string, readonly string[]>();
let cachedChars = 0;

function cacheKey(lang: string, chunks: readonly string[]): string {
  return [lang, ...chunks].join("\0");
}

/** Sanitising runs in slices of this duration, yielding in between. */
const SLICE_MS = 8;

/**
 * Yields the sanitised HTML of more and more chunks until all are done; yields nothing if the language is unknown or
 * the grammar takes too long.
 */
export async function* colours(lang: string, chunks: readonly string[]): AsyncGenerator<readonly string[]> {
  const key = cacheKey(lang, chunks);
  const known = cache.get(key);
  if (known) yield known;
  if (known || !lang || key.length > LIMIT_CHARS) return;
  const dirty = await worker.ask({ lang, chunks });
  if (!dirty) return;
  const clean: string[] = [];
  let start = performance.now();
  for (const html of dirty) {
    clean.push(sanitizeHighlight(cutLongWords(html)));
    if (performance.now() - start < SLICE_MS) continue;
    yield [...clean];
    await new Promise((resolve) => setTimeout(resolve));
    start = performance.now();
  }
  remember(key, clean);
  yield clean;
}

function remember(key: string, html: readonly string[]): void {
  if (!cache.has(key)) cachedChars += key.length;
  cache.set(key, html);
  for (const old of cache.keys()) {
    if (cachedChars <= CACHE_CHARS) break;
    cache.delete(old);
    cachedChars -= old.length;
  }
}
