// Typesets the formulas of rendered markup in slices, so that thousands of them do not block the page.

import { loadMaths, mathsReady, typeset } from "./maths";

/** Formulas of one block beyond this number are shown as source. */
export const MAX_FORMULAS = 500;

/** Duration of one slice of typesetting. */
const SLICE_MS = 8;

let queue: HTMLElement[] = [];
let isScheduled = false;
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
  return queue.length === 0 ? Promise.resolve() : new Promise((resolve) => whenDone.push(resolve));
}

function work(): void {
  isScheduled = false;
  const end = performance.now() + SLICE_MS;
  let done = 0;
  while (done < queue.length && (done === 0 || performance.now() < end)) fill(queue[done++]);
  queue = queue.slice(done);
  if (queue.length > 0) {
    isScheduled = true;
    setTimeout(work);
    return;
  }
  for (const resolve of whenDone.splice(0)) resolve();
}

function fill(formula: HTMLElement | undefined): void {
  if (!formula) return;
  const html = typeset(formula.dataset.tex ?? "", formula.classList.contains("md-display"));
  if (html === undefined) formula.classList.add("md-source");
  else formula.innerHTML = html;
}
