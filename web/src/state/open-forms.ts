/** Forms inside the page that Escape closes, the innermost first. */

const closers = new Map<Element, () => void>();

/** For `{@attach}`: Escape calls `close`, which keeps what was typed. */
export function closable(close: () => void): (element: Element) => () => void {
  return (element) => {
    closers.set(element, close);
    return () => closers.delete(element);
  };
}

/** What closes the form that `target` is in, else the one that was opened last. */
export function closerOf(target: EventTarget | null): (() => void) | undefined {
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) {
    const close = closers.get(at);
    if (close) return close;
  }
  return [...closers.values()].at(-1);
}
