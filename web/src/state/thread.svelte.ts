/** The thread's place on the page: whether its end is in view, and moving from turn to turn. */
import { openChat } from "./chat.svelte.ts";

interface Parts {
  element: () => HTMLElement | undefined;
  list: () =>
    { scrollToIndex(index: number, options?: { align?: "start" | "center" | "end" }): void } | undefined;
  toBottom: () => void;
}

class Thread {
  atBottom = $state(true);
  /** The message that is to be brought into view; nothing once it is. */
  wanted = $state<string | null>(null);
  /** The message that was, for a moment. */
  marked = $state<string | null>(null);
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

  /** The turn that has the focus, or holds it. */
  focused(): HTMLElement | null {
    return document.activeElement?.closest<HTMLElement>("article[data-turn]") ?? null;
  }

  /** Moves the focus to the turn `step` further; without one, to the last. */
  moveFocus(step: number): void {
    const element = this.#parts?.element();
    if (!element) return;
    const last = openChat.path.length - 1;
    const now = this.focused()?.dataset.turn;
    const target = now === undefined ? last : Math.min(last, Math.max(0, Number(now) + step));
    if (target < 0) return;
    if (target < last) this.atBottom = false;
    this.#focus(target);
  }

  /** Brings the message that is wanted into view, at this place of the branch. */
  show(target: number): void {
    this.atBottom = false;
    this.marked = this.wanted;
    this.wanted = null;
    this.#focus(target);
  }

  /** Brings what is marked in an element into view, or the element. */
  reveal(element: HTMLElement): void {
    this.atBottom = false;
    // The list moves for some frames when it brings a turn into view: until it rests, so does this.
    let frames = 30;
    const again = () => {
      (element.querySelector("mark") ?? element).scrollIntoView({ block: "center" });
      frames -= 1;
      if (frames > 0 && element.isConnected) requestAnimationFrame(again);
    };
    requestAnimationFrame(again);
  }

  #focus(target: number): void {
    const element = this.#parts?.element();
    if (!element) return;
    this.#parts?.list()?.scrollToIndex(target, { align: "start" });
    // The list brings the turn into the page with its next frame.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        element.querySelector<HTMLElement>(`article[data-turn="${target}"]`)?.focus({ preventScroll: true }),
      ),
    );
  }
}

export const thread = new Thread();
