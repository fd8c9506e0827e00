/** Scrolls to a part of a settings page, found by its text, and marks it briefly. */

/** How long content that loads above it may move it. */
const settleMs = 3000;
const markMs = 2500;

const clean = (text: string | null | undefined) => text?.replace(/\s+/g, " ").trim() ?? "";

const isShown = (element: Element | null): element is HTMLElement =>
  element instanceof HTMLElement && element.checkVisibility();

/** The heading, whose section holds what belongs to it. */
function findHeading(root: Element, text: string): HTMLElement | undefined {
  return [...root.querySelectorAll<HTMLElement>("h2")].find(
    (heading) => clean(heading.textContent) === text && isShown(heading),
  );
}

/** The innermost element with this text or this name. */
function findLabel(root: Element, text: string): HTMLElement | undefined {
  const named = [...root.querySelectorAll<HTMLElement>("[aria-label]")].find(
    (element) => element.ariaLabel === text && isShown(element),
  );
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { textContent, parentElement } = walker.currentNode;
    if (clean(textContent) === text && isShown(parentElement)) return parentElement;
  }
  return named;
}

/** The control with its label, not the label alone. */
const framed = (label: HTMLElement) =>
  label.closest<HTMLElement>(".labelled") ?? label.closest<HTMLElement>("button, a, label, summary") ?? label;

export interface Sought {
  heading: string | undefined;
  label: string | undefined;
}

function find(root: Element, { heading, label }: Sought): HTMLElement | undefined {
  const head = heading === undefined ? undefined : findHeading(root, heading);
  const within = head?.closest("section") ?? (heading === undefined ? root : undefined);
  const found = label === undefined || !within ? undefined : findLabel(within, label);
  return found ? framed(found) : head;
}

function mark(element: HTMLElement): void {
  element.dataset.found = "";
  setTimeout(() => delete element.dataset.found, markMs);
}

/** The field of a label takes the focus; a heading does so that the keyboard and screen readers go on from there. */
function focus(element: HTMLElement): void {
  const fields = "input:not([type=hidden], [hidden]), select, textarea";
  const field = element.matches("button, a, summary")
    ? element
    : ((element as HTMLLabelElement).control ?? element.querySelector<HTMLElement>(fields));
  if (!field) element.tabIndex = -1;
  (field ?? element).focus({ preventScroll: true });
}

/**
 * Shows the place as soon as it is there, and keeps it in view while the content above it is loading, until the user
 * does something. Returns a function that ends this.
 */
export function reveal(root: HTMLElement, sought: Sought, takesFocus: boolean): () => void {
  let shown: HTMLElement | undefined;
  const stop = new AbortController();

  const show = () => {
    const found = find(root, sought);
    if (!found) return;
    found.scrollIntoView({ block: found.matches("h2") ? "start" : "center" });
    if (found === shown) return;
    if (shown) delete shown.dataset.found;
    shown = found;
    mark(found);
    if (takesFocus) focus(found);
  };

  const changes = new MutationObserver(show);
  const end = () => {
    stop.abort();
    changes.disconnect();
  };
  changes.observe(root, { childList: true, subtree: true });
  // Not yet for the key or the click that led here.
  requestAnimationFrame(() => {
    for (const event of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      window.addEventListener(event, end, { signal: stop.signal, passive: true });
    }
  });
  const timer = setTimeout(end, settleMs);
  stop.signal.addEventListener("abort", () => clearTimeout(timer));
  show();
  return end;
}
