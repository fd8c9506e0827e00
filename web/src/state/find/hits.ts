/** Finds words in texts as a reader would: without regard to case, accents of Latin letters and vowel marks. */

/** Vowel marks and elongation of Arabic and Hebrew, and combining accents. */
const MARKS = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]/g;

export interface Folded {
  text: string;
  /** For each character its position in the original; `null` if they are the same. */
  places: readonly number[] | null;
}

function foldCharacter(character: string): string {
  if (/\s/.test(character)) return " ";
  const lower = character.toLowerCase().replace("ё", "е");
  const bare = /\p{Script=Latin}/u.test(lower) ? lower.normalize("NFD") : lower;
  return bare.replace(MARKS, "");
}

/** The text for comparison. */
export function fold(text: string): Folded {
  if (/^[\x20-\x7e]*$/.test(text)) return { text: text.toLowerCase(), places: null };
  let folded = "";
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const one = foldCharacter(character);
    folded += one;
    for (let n = 0; n < one.length; n++) places.push(at + Math.min(n, character.length - 1));
    at += character.length;
  }
  return { text: folded, places };
}

export interface Hit {
  start: number;
  end: number;
}

/** A single letter in a long text must not freeze the page. */
export const MAX_HITS = 2000;

/** The hits of a query that has been folded, as ranges of the original text. */
export function hitsIn({ text, places }: Folded, query: string, most = MAX_HITS): Hit[] {
  const hits: Hit[] = [];
  if (query === "") return hits;
  const placeOf = (at: number) => (places ? (places[at] ?? 0) : at);
  for (
    let at = text.indexOf(query);
    at >= 0 && hits.length < most;
    at = text.indexOf(query, at + query.length)
  ) {
    hits.push({ start: placeOf(at), end: placeOf(at + query.length - 1) + 1 });
  }
  return hits;
}

/** What is typed, for `hitsIn`. */
export function foldQuery(query: string): string {
  return query.trim() === "" ? "" : fold(query).text.trim();
}
