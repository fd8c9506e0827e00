/** Whether the find bar is open, and what its key does. The bar itself is loaded on demand. */

class Find {
  isOpen = $state(false);
  /** Focuses the field of the open bar; `false` if it has the focus already. Set by the bar. */
  focus: (() => boolean) | null = null;

  /** Opens the bar or focuses it. `false` if the browser's own find is wanted, by a second press. */
  press(): boolean {
    if (this.isOpen) return this.focus?.() ?? true;
    this.isOpen = true;
    return true;
  }
}

export const find = new Find();
