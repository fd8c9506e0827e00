/** Scroll state of the thread: whether its end is visible, and moving between turns. */
import { openChat } from "./chat.svelte.ts";

interface List {
  scrollToIndex(index: number, options?: { align?: "start" | "center" | "end" | "nearest" }): void;
  getItemOffset(index: number): number;
  getItemSize(index: number): number;
  getScrollSize(): number;
}

interface Parts {
  element: () => HTMLElement | undefined;
  list: () => List | undefined;
  toBottom: () => void;
  /** Whether its end is visible. */
  isAtEnd: () => boolean;
}

class Thread {
  atBottom = $state(true);
  /** The message to scroll to; `null` once done. */
  wanted = $state<string | null>(null);
  /** The message in which the words of a search hit are marked; they show where the focus is. */
  marked = $state<string | null>(null);
  /** Whether growing text does not scroll to the end, even if it is visible: until the user scrolls down. */
  held = $state(false);
  /** Whether a scroll to an element is still under way. */
  isRevealing = false;
  #parts: Parts | null = null;

  attach(parts: Parts): () => void {
    this.#parts = parts;
    return () => {
      if (this.#parts === parts) this.#parts = null;
    };
  }

  toBottom(): void {
    this.#parts?.toBottom();
  }

  /** The scrolled element. */
  get scroller(): HTMLElement | undefined {
    return this.#parts?.element();
  }

  /** The drawn turn with this index in the branch. */
  turn(index: number): HTMLElement | null {
    return this.scroller?.querySelector<HTMLElement>(`article[data-turn="${index}"]`) ?? null;
  }

  /** Index of the first turn that reaches below a line, in pixels from the top of the view. */
  turnInView(linePx = 0): number {
    const { scroller } = this;
    const top = (scroller?.getBoundingClientRect().top ?? 0) + linePx;
    const turns = [...(scroller?.querySelectorAll<HTMLElement>("article[data-turn]") ?? [])];
    return Number(turns.find((turn) => turn.getBoundingClientRect().bottom > top)?.dataset.turn ?? 0);
  }

  /** Scrolls to a turn, which is drawn in one of the next frames. */
  reach(index: number): void {
    this.atBottom = false;
    if (!this.turn(index)) this.#parts?.list()?.scrollToIndex(index, { align: "start" });
  }

  /** Where in the whole thread a place is, from 0 to 1: a turn, and how far into it. */
  placeOf(index: number, into: number): number {
    const list = this.#parts?.list();
    const size = list?.getScrollSize() ?? 0;
    if (!list || size === 0) return 0;
    return (list.getItemOffset(index) + list.getItemSize(index) * into) / size;
  }

  /** The turn that has or contains the focus. */
  focused(): HTMLElement | null {
    return document.activeElement?.closest<HTMLElement>("article[data-turn]") ?? null;
  }

  /** Moves the focus by `step` turns; to the last one if none is focused. */
  moveFocus(step: number): void {
    const element = this.#parts?.element();
    if (!element) return;
    const last = openChat.path.length - 1;
    const now = this.focused()?.dataset.turn;
    const target = now === undefined ? last : Math.min(last, Math.max(0, Number(now) + step));
    if (target < 0) return;
    if (target < last) this.atBottom = false;
    this.marked = null;
    this.#focus(target);
  }

  /** Scrolls to the requested message, which has this index in the branch. */
  show(target: number): void {
    this.atBottom = false;
    this.wanted = null;
    this.#focus(target);
  }

  /** Scrolls to the highlight in an element, or to the element. */
  reveal(element: HTMLElement): void {
    this.#scrollUntilSettled(element, () => {
      (element.querySelector("mark") ?? element).scrollIntoView({ block: "center" });
    });
  }

  /** Scrolls to the beginning of an element and stays there while it grows. */
  showTop(element: HTMLElement): void {
    this.held = true;
    this.#scrollUntilSettled(element, () => element.scrollIntoView({ block: "start" }));
  }

  /** The list scrolls over several frames when it shows a turn: repeats until it has settled, or the user scrolls. */
  #scrollUntilSettled(element: HTMLElement, scroll: () => void): void {
    this.atBottom = false;
    this.isRevealing = true;
    let frames = 30;
    const over = new AbortController();
    for (const type of ["wheel", "touchmove", "keydown"]) {
      addEventListener(type, () => (frames = 0), { passive: true, signal: over.signal });
    }
    const again = () => {
      frames -= 1;
      if (frames < 0 || !element.isConnected) {
        over.abort();
        this.isRevealing = false;
        // In a chat that fits the window nothing has scrolled.
        this.atBottom = this.#parts?.isAtEnd() ?? false;
        return;
      }
      scroll();
      requestAnimationFrame(again);
    };
    requestAnimationFrame(again);
  }

  #focus(target: number): void {
    const element = this.#parts?.element();
    if (!element) return;
    this.#parts?.list()?.scrollToIndex(target, { align: "start" });
    // The list renders the turn in its next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => this.turn(target)?.focus({ preventScroll: true })),
    );
  }
}

export const thread = new Thread();
