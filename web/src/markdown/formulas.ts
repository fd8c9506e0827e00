// Typesets the formulas of rendered markup a slice at a time, so that thousands of them do not hold up the page.

import { loadMaths, mathsReady, typeset } from "./maths";

/** The formulas of one block beyond this many stay source. */
export const MAX_FORMULAS = 500;

/** Formulas are typeset for so long at a time. */
const SLICE_MS = 8;

let queue: HTMLElement[] = [];
let isScheduled = false;
const whenDone: (() => void)[] = [];

/** Typesets them in turn: at once what fits into a slice, the rest after other work of the page. */
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

/** When every formula that was asked for has been typeset. */
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
