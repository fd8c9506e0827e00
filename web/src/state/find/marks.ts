/** Marks words of the thread with the CSS Custom Highlight API, which leaves the drawn messages as they are. */
import { thread } from "../thread.svelte.ts";
import { drawnIn, type Drawn } from "./words.ts";

/** Names of the highlights, as in `base.css`. */
export const HIT = "find-hit";
export const CURRENT = "find-current";

export function mark(name: string, ranges: readonly Range[], priority = 0): void {
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

/** The turns that are drawn. */
export const drawnTurns = (): HTMLElement[] => [
  ...(thread.scroller?.querySelectorAll<HTMLElement>("article[data-turn]") ?? []),
];

/** The words of a message, without its steps and buttons. */
export const wordsDrawnIn = (turn: HTMLElement): Drawn =>
  drawnIn(turn.querySelectorAll(".bubble, .answer .md"));

/** Calls `redraw` shortly after messages were drawn or have grown. Returns how to stop. */
export function onRedraw(scroller: HTMLElement, redraw: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changes = new MutationObserver(() => {
    timer ??= setTimeout(() => {
      timer = undefined;
      redraw();
    }, 150);
  });
  changes.observe(scroller, { childList: true, characterData: true, subtree: true });
  return () => {
    clearTimeout(timer);
    changes.disconnect();
  };
}
