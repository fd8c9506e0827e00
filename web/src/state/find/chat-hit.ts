/** Marks the words of a chat search hit in its message. */
import { splitByWords } from "../knowledge/words.ts";
import { thread } from "../thread.svelte.ts";
import { MAX_HITS, type Hit } from "./hits.ts";
import { HIT, mark, wordsDrawnIn } from "./marks.ts";
import { rangeOf } from "./words.ts";

/** The words come from the URL. */
const MAX_QUERY_LENGTH = 300;

/** Where the words of a query are in a text, including inflected forms. */
export function wordHits(text: string, query: string): Hit[] {
  let start = 0;
  return splitByWords(text, query.slice(0, MAX_QUERY_LENGTH))
    .flatMap(({ text: { length }, hit }) => {
      const end = (start += length);
      return hit ? { start: end - length, end } : [];
    })
    .slice(0, MAX_HITS);
}

/** The words in the turn with this index, as far as it is drawn. */
export function hitRanges(turn: number, query: string): Range[] {
  const element = thread.turn(turn);
  if (!element) return [];
  const drawn = wordsDrawnIn(element);
  return wordHits(drawn.text, query).flatMap(({ start, end }) => rangeOf(drawn, start, end) ?? []);
}

export const markHit = (turn: number, query: string): void => mark(HIT, hitRanges(turn, query));
