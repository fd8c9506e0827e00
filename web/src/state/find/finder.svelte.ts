/** Finds a query in all messages of the open chat, in slices, and marks the hits that are drawn. */
import type { ChatMessage } from "../../api/types.ts";
import { thread } from "../thread.svelte.ts";
import { textOf } from "../tree.ts";
import { fold, foldQuery, hitsIn, MAX_HITS, type Folded } from "./hits.ts";
import { CURRENT, drawnTurns, HIT, mark, unmark, wordsDrawnIn } from "./marks.ts";
import { reveal } from "./reveal.ts";
import { rangeOf, wordsOf } from "./words.ts";

/** A hit: the message by its index in the branch, and which of the hits in it. */
export interface Found {
  turn: number;
  nth: number;
  /** How far into the message, from 0 to 1. */
  into: number;
}

const SLICE_MS = 8;

/** The words of the messages, which only change as a whole. */
const known = new WeakMap<ChatMessage, { source: string; words: Folded }>();

function wordsOfMessage(message: ChatMessage): Folded {
  const source = textOf(message);
  const before = known.get(message);
  if (before?.source === source) return before.words;
  const words = fold(message.role === "user" ? source : wordsOf(source));
  known.set(message, { source, words });
  return words;
}

/** Ranges of the hits in a drawn message. */
function rangesIn(turn: HTMLElement, query: string): Range[] {
  const drawn = wordsDrawnIn(turn);
  return hitsIn(fold(drawn.text), query).flatMap(({ start, end }) => rangeOf(drawn, start, end) ?? []);
}

export class Finder {
  hits = $state.raw<readonly Found[]>([]);
  /** Index of the hit shown, or -1. */
  at = $state(-1);
  #query = "";
  #run = 0;
  #stopReveal: (() => void) | undefined;

  /** Searches anew, and shows the first hit from the turn on that one sees. */
  async search(text: string, messages: readonly ChatMessage[], from: number): Promise<void> {
    const run = ++this.#run;
    this.#query = foldQuery(text);
    const hits: Found[] = [];
    let end = performance.now() + SLICE_MS;
    for (const [turn, message] of messages.entries()) {
      if (this.#query === "" || hits.length >= MAX_HITS) break;
      const words = wordsOfMessage(message);
      const length = Math.max(1, words.places?.at(-1) ?? words.text.length);
      for (const [nth, { start }] of hitsIn(words, this.#query, MAX_HITS - hits.length).entries())
        hits.push({ turn, nth, into: start / length });
      if (performance.now() < end) continue;
      await new Promise((resolve) => setTimeout(resolve));
      if (run !== this.#run) return;
      end = performance.now() + SLICE_MS;
    }
    this.hits = hits;
    const first = hits.findIndex(({ turn }) => turn >= from);
    this.at = hits.length === 0 ? -1 : Math.max(0, first);
    this.#show();
  }

  /** Goes on by `step` hits, around the end. */
  step(step: number): void {
    const { length } = this.hits;
    if (length === 0) return;
    this.at = (this.at + step + length) % length;
    this.#show();
  }

  /** Marks the hits of all drawn messages. */
  markDrawn(): void {
    const ranges = drawnTurns().flatMap((turn) => (this.#query === "" ? [] : rangesIn(turn, this.#query)));
    mark(HIT, ranges);
    const range = this.#rangeOf(this.hits[this.at]);
    mark(CURRENT, range ? [range] : [], 1);
  }

  stop(): void {
    this.#run += 1;
    this.#stopReveal?.();
    unmark();
  }

  /** The range of a hit; more or fewer hits may be drawn than the source has, next to buttons and formulas. */
  #rangeOf(hit: Found | undefined): Range | undefined {
    const turn = hit && thread.turn(hit.turn);
    if (!hit || !turn) return undefined;
    const ranges = rangesIn(turn, this.#query);
    return ranges[Math.min(hit.nth, ranges.length - 1)];
  }

  #show(): void {
    const hit = this.hits[this.at];
    this.#stopReveal?.();
    this.markDrawn();
    if (!hit) return;
    this.#stopReveal = reveal(
      hit.turn,
      () => this.#rangeOf(hit),
      () => this.markDrawn(),
    );
  }
}
