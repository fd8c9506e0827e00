/** Whether the find bar is open, and what its key does. The bar itself is loaded on demand. */

/** How long keys are held for the bar while it loads. */
const LOADING_MS = 3000;

class Find {
  isOpen = $state(false);
  /** Focuses the field of the open bar; `false` if it has the focus already. Set by the bar. */
  focus: (() => boolean) | null = null;

  #typed = "";
  #openedAt = 0;

  /** Opens the bar or focuses it. `false` if the browser's own find is wanted, by a second press. */
  press(): boolean {
    if (this.isOpen) return this.focus?.() ?? true;
    this.isOpen = true;
    this.#typed = "";
    this.#openedAt = performance.now();
    return true;
  }

  /** Holds a key that was typed before the bar was there; `false` if none is expected. */
  hold({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    const isLoading = this.isOpen && !this.focus && performance.now() - this.#openedAt < LOADING_MS;
    if (!isLoading || [...key].length !== 1 || ctrlKey || metaKey || altKey) return false;
    this.#typed += key;
    return true;
  }

  /** What was typed while the bar loaded. */
  take(): string {
    const typed = this.#typed;
    this.#typed = "";
    return typed;
  }
}

export const find = new Find();
