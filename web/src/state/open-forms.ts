/** Inline forms that Escape closes, innermost first. */

const closers = new Map<Element, () => void>();

/** For `{@attach}`: Escape calls `close`, which keeps the input. */
export function closable(close: () => void): (element: Element) => () => void {
  return (element) => {
    closers.set(element, close);
    return () => closers.delete(element);
  };
}

/** Close function of the form that contains `target`, else of the one opened last. */
export function closerOf(target: EventTarget | null): (() => void) | undefined {
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) {
    const close = closers.get(at);
    if (close) return close;
  }
  return [...closers.values()].at(-1);
}
