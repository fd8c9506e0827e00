/** Finds a query in all messages of the open chat, in slices, and marks the hits that are drawn. */
import type { ChatMessage } from "../../api/types.ts";
import { thread } from "../thread.svelte.ts";
import { textOf } from "../tree.ts";
import { fold, foldQuery, hitsIn, MAX_HITS, type Folded } from "./hits.ts";
import { drawnIn, rangeOf, wordsOf } from "./words.ts";

/** A hit: the message by its index in the branch, and which of the hits in it. */
export interface Found {
  turn: number;
  nth: number;
  /** How far into the message, from 0 to 1. */
  into: number;
}

const SLICE_MS = 8;
/** How many frames a message may take until it is drawn where it stays, and when it counts as staying. */
const SETTLING_FRAMES = 120;
const STEADY_FRAMES = 12;

/** Height of the bar over the thread. */
const UNDER_BAR_PX = 60;

const HIT = "find-hit";
const CURRENT = "find-current";

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
  const drawn = drawnIn(turn.querySelectorAll(".bubble, .answer .md"));
  return hitsIn(fold(drawn.text), query).flatMap(({ start, end }) => rangeOf(drawn, start, end) ?? []);
}

function mark(name: string, ranges: readonly Range[], priority = 0): void {
  if (!("highlights" in CSS)) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}

/** Removes all marks. */
export function unmark(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete(HIT);
  CSS.highlights.delete(CURRENT);
}

/** Whether a hit is drawn inside the thread, and inside a block that scrolls sideways. */
function isInView(range: Range): boolean {
  const { top, bottom, left, right, height } = range.getBoundingClientRect();
  const view = thread.scroller?.getBoundingClientRect();
  if (!view || height === 0 || top < view.top + UNDER_BAR_PX || bottom > view.bottom) return false;
  const wide = range.startContainer.parentElement
    ?.closest("pre, .md-table, .folded")
    ?.getBoundingClientRect();
  return !wide || (left >= wide.left && right <= wide.right && bottom <= wide.bottom);
}

/** Scrolls a hit to the middle, also inside a wide block, and opens what hides it. */
function bringIntoView(range: Range): void {
  const parent = range.startContainer.parentElement;
  for (let fold = parent?.closest("details"); fold; fold = fold.parentElement?.closest("details"))
    fold.open = true;
  parent?.scrollIntoView({ block: "center", inline: "nearest" });
  const box = range.getBoundingClientRect();
  const wide = parent?.closest<HTMLElement>("pre, .md-table");
  if (wide) {
    const { left, right } = wide.getBoundingClientRect();
    if (box.left < left || box.right > right) wide.scrollLeft += box.left - (left + right) / 2;
  }
  const { scroller } = thread;
  if (!scroller) return;
  const { top, height } = scroller.getBoundingClientRect();
  const now = range.getBoundingClientRect();
  if (!isInView(range)) scroller.scrollTop += now.top - top - height / 2;
}

export class Finder {
  hits = $state.raw<readonly Found[]>([]);
  /** Index of the hit shown, or -1. */
  at = $state(-1);
  #query = "";
  #run = 0;
  #shown: Found | undefined;

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
    const ranges = [...(thread.scroller?.querySelectorAll<HTMLElement>("article[data-turn]") ?? [])].flatMap(
      (turn) => (this.#query === "" ? [] : rangesIn(turn, this.#query)),
    );
    mark(HIT, ranges);
    const range = this.#rangeOf(this.hits[this.at]);
    mark(CURRENT, range ? [range] : [], 1);
  }

  stop(): void {
    this.#run += 1;
    this.#shown = undefined;
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
    const hit = (this.#shown = this.hits[this.at]);
    this.markDrawn();
    if (!hit) return;
    thread.reach(hit.turn);
    let frames = SETTLING_FRAMES;
    let steady = 0;
    const again = (): void => {
      if (this.#shown !== hit) return;
      frames -= 1;
      const range = this.#rangeOf(hit);
      steady = range && isInView(range) ? steady + 1 : 0;
      if (steady >= STEADY_FRAMES || frames === 0) {
        this.markDrawn();
        return;
      }
      if (range && steady === 0) bringIntoView(range);
      else if (!range && frames % STEADY_FRAMES === 0) thread.reach(hit.turn);
      requestAnimationFrame(again);
    };
    requestAnimationFrame(again);
  }
}
