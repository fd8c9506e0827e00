// Typesets the formulas of rendered markup in slices, so that thousands of them do not block the page.

import { loadMaths, mathsReady, typeset } from "./maths";

/** Formulas of one block beyond this number are shown as source. */
export const MAX_FORMULAS = 500;

/** Duration of one slice of typesetting, and the markup that it may add: laying that out takes about as long. */
const SLICE_MS = 8;
const SLICE_CHARS = 40_000;
const FRAME_MS = 16;

let queue: HTMLElement[] = [];
let isScheduled = false;
/** Number of formulas that the worker has yet to typeset. */
let awaited = 0;
const whenDone: (() => void)[] = [];

/** Typesets formulas in order: those that fit in a slice immediately, the rest between other tasks of the page. */
export function fillFormulas(formulas: readonly HTMLElement[]): void {
  for (const formula of formulas.slice(MAX_FORMULAS)) formula.classList.add("md-source");
  queue.push(...formulas.slice(0, MAX_FORMULAS));
  if (isScheduled) return;
  if (mathsReady()) {
    work();
    return;
  }
  isScheduled = true;
  void loadMaths().then(work, () => {
    isScheduled = false;
  });
}

/** Resolves once every requested formula has been typeset. */
export function formulasDone(): Promise<void> {
  return isDone() ? Promise.resolve() : new Promise((resolve) => whenDone.push(resolve));
}

function isDone(): boolean {
  return queue.length === 0 && awaited === 0;
}

function reportDone(): void {
  if (isDone()) for (const resolve of whenDone.splice(0)) resolve();
}

function work(): void {
  isScheduled = false;
  const end = performance.now() + SLICE_MS;
  let done = 0;
  let chars = 0;
  while (done < queue.length && (done === 0 || (performance.now() < end && chars < SLICE_CHARS)))
    chars += fill(queue[done++]);
  queue = queue.slice(done);
  // The browser lays out what was added before more is.
  if (queue.length > 0) schedule(chars < SLICE_CHARS ? 0 : FRAME_MS);
  else reportDone();
}

function schedule(waitMs: number): void {
  isScheduled = true;
  setTimeout(work, waitMs);
}

/** Returns the number of characters of markup added. */
function fill(formula: HTMLElement | undefined): number {
  if (!formula) return 0;
  const html = typeset(formula.dataset.tex ?? "", formula.classList.contains("md-display"));
  if (typeof html !== "string") {
    void fillLater(formula, html);
    return 0;
  }
  if (html === "") formula.classList.add("md-source");
  else formula.innerHTML = html;
  return html.length;
}

/** Queues the formula again once it is known. */
async function fillLater(formula: HTMLElement, typesetting: Promise<string>): Promise<void> {
  awaited += 1;
  await typesetting;
  awaited -= 1;
  queue.push(formula);
  if (!isScheduled) schedule(0);
}
