/**
 * Finds the sentences of a cited passage that a statement of an answer most likely rests on, by the words and numbers they
 * share. Passages of a search are longer than what is cited of them.
 */
import type { Span } from "./knowledge/blocks.ts";

/** Words are compared by their beginning, since endings are inflected. */
const BEGINNING = 5;
/** The share of the statement's words in the passage that the sentences must have. */
const MIN_SHARE = 0.4;
const MIN_COMMON = 2;
/** Most of what a word of this many letters or fewer says is grammar. */
const SHORT = 3;
const SHORT_WEIGHT = 0.2;
/** A second sentence is added if it has at least this share of the best one. */
const NEARLY = 0.8;
/** Longer passages and statements are not looked at beyond this. */
const MAX_PASSAGE = 20_000;
export const MAX_STATEMENT = 300;

const STATEMENT = "statement=";
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/;

/** The best sentences as one span of the passage; `null` if none fits. */
export function fitting(passage: string, statement: string): Span | null {
  const wanted = keysOf(statement.slice(0, MAX_STATEMENT));
  const sentences = sentencesOf(passage.slice(0, MAX_PASSAGE)).map((span) => ({
    span,
    keys: keysOf(passage.slice(span.start, span.end)),
  }));
  if (wanted.size === 0 || sentences.length < 2) return null;
  const weights = new Map<string, number>();
  for (const key of wanted) {
    const count = sentences.filter(({ keys }) => keys.has(key)).length;
    if (count > 0) weights.set(key, weightOf(key) * Math.log(1 + sentences.length / count));
  }
  const total = sum(weights.values());
  const scored = sentences.map(({ span, keys }) => {
    const common = [...weights].filter(([key]) => keys.has(key));
    return { span, count: common.length, score: sum(common.map(([, weight]) => weight)) };
  });
  const place = scored.reduce((best, { score }, at) => (score > (scored[best]?.score ?? 0) ? at : best), 0);
  const best = scored[place];
  if (!best || best.count < Math.min(MIN_COMMON, wanted.size) || best.score < MIN_SHARE * total) return null;
  const beside = [scored[place - 1], scored[place + 1]].filter((one) => one !== undefined);
  const second = beside.find(({ score }) => score >= NEARLY * best.score);
  const spans = [best.span, ...(second ? [second.span] : [])];
  return {
    start: Math.min(...spans.map(({ start }) => start)),
    end: Math.max(...spans.map(({ end }) => end)),
  };
}

/** The statement that a citation mark in a rendered answer ends: the sentence before it in its paragraph, item or cell. */
export function statementBefore(mark: HTMLElement): string {
  const block = mark.closest("p, li, td, th, h1, h2, h3, h4, h5, h6, blockquote, dd");
  if (!block) return "";
  const range = document.createRange();
  range.setStart(block, 0);
  range.setEndBefore(mark);
  const before = range.cloneContents();
  for (const button of before.querySelectorAll("button")) button.remove();
  const text = (before.textContent ?? "").replace(/\s+/g, " ").trim();
  const last = sentencesOf(text).at(-1);
  return last ? text.slice(last.start, last.end).slice(-MAX_STATEMENT) : "";
}

/** The passage, or its sentences that fit the statement. */
export function narrowed(text: string, found: Span | null, statement: string): Span | null {
  if (!found || statement === "") return found;
  const fit = fitting(text.slice(found.start, found.end), statement);
  return fit ? { start: found.start + fit.start, end: found.start + fit.end } : found;
}

/**
 * The address of a passage, which is opened at the sentences that fit the statement. That is in the fragment, which browsers
 * do not send.
 */
export function withStatement(address: string, statement: string): string {
  if (statement === "" || !/[?&]from=\d/.test(address)) return address;
  return `${address}#${STATEMENT}${encodeURIComponent(statement)}`;
}

/** The statement in the fragment of an address. */
export function statementIn(fragment: string): string {
  const part = fragment.startsWith(`#${STATEMENT}`) ? fragment.slice(STATEMENT.length + 1) : "";
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

/** Sentences, list items, headings and table rows, without the space around them. */
function sentencesOf(text: string): Span[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "sentence" });
  return blocksOf(text).flatMap((block) => {
    // To the segmenter, a line break ends a sentence.
    const words = text.slice(block.start, block.end).replaceAll("\n", " ");
    return [...segmenter.segment(words)].flatMap(({ segment, index }) => {
      const start = block.start + index + (segment.length - segment.trimStart().length);
      const end = block.start + index + segment.trimEnd().length;
      return start < end ? [{ start, end }] : [];
    });
  });
}

/** Paragraphs, whose lines may be those of a printed page, and the lines of Markdown that stand for themselves. */
function blocksOf(text: string): Span[] {
  const blocks: Span[] = [];
  let open: Span | undefined;
  for (const line of text.matchAll(/[^\n]*\n?/g)) {
    const end = line.index + line[0].length;
    const isOwn = /^\s*[#|]/.test(line[0]);
    if (!open || isOwn || /^\s*(?:$|[-*+•>]\s|\d{1,9}[.)]\s)/.test(line[0])) {
      open = { start: line.index, end };
      blocks.push(open);
    } else open.end = end;
    if (isOwn || line[0].trim() === "") open = undefined;
  }
  return blocks;
}

/** Numbers, the beginnings of words, and pairs of characters where words are not separated. */
function keysOf(text: string): Set<string> {
  const folded = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const keys = new Set<string>();
  for (const [word] of folded.matchAll(/\p{N}+(?:[.,]\p{N}+)*|[\p{L}]+/gu)) {
    if (UNSPACED.test(word)) {
      const letters = [...word];
      letters.forEach((letter, at) => keys.add(letter + (letters[at + 1] ?? "")));
    } else keys.add(isNumber(word) ? word : word.slice(0, BEGINNING));
  }
  return keys;
}

const isNumber = (key: string) => /^\p{N}/u.test(key);

function weightOf(key: string): number {
  if (isNumber(key)) return 2;
  return key.length <= SHORT && !UNSPACED.test(key) ? SHORT_WEIGHT : 1;
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const number of numbers) all += number;
  return all;
}
