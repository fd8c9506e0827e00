/** Scrolls to words in a message, over the frames in which the list draws and measures it. */
import { thread } from "../thread.svelte.ts";

/** How many frames a message may take until it is drawn where it stays, and when it counts as staying. */
const SETTLING_FRAMES = 120;
const STEADY_FRAMES = 12;

/** Height of the find bar over the thread. */
const UNDER_BAR_PX = 60;

/** Whether a hit is drawn inside the thread, and inside a block that scrolls sideways. */
function isInView(range: Range): boolean {
  const { top, bottom, left, right, height } = range.getBoundingClientRect();
  const view = thread.scroller?.getBoundingClientRect();
  if (!view || height === 0 || bottom > view.bottom) return false;
  // At the very top of the thread nothing can be scrolled below the bar.
  if (top < view.top + (thread.scroller?.scrollTop === 0 ? 0 : UNDER_BAR_PX)) return false;
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

/**
 * Scrolls to a range of the turn with this index until it stays in view; `done` is called then, or after two seconds.
 * Returns how to stop.
 */
export function reveal(turn: number, rangeOf: () => Range | undefined, done: () => void): () => void {
  let isStopped = false;
  let frames = SETTLING_FRAMES;
  let steady = 0;
  thread.reach(turn);
  const again = (): void => {
    if (isStopped) return;
    frames -= 1;
    const range = rangeOf();
    steady = range && isInView(range) ? steady + 1 : 0;
    if (steady >= STEADY_FRAMES || frames === 0) {
      done();
      return;
    }
    if (range && steady === 0) bringIntoView(range);
    else if (!range && frames % STEADY_FRAMES === 0) thread.reach(turn);
    requestAnimationFrame(again);
  };
  requestAnimationFrame(again);
  return () => (isStopped = true);
}
