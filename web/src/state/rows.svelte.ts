/** Rows of the sidebar with a menu, a dialog or a text field open. A row that moves in the list closes what it has open, with
 * all that was typed there, so the lists stay as they are meanwhile. */
import { untrack } from "svelte";

class RowsInUse {
  #count = $state(0);

  get any(): boolean {
    return this.#count > 0;
  }

  /** Keeps the lists as they are until the returned function is called. */
  use(): () => void {
    untrack(() => (this.#count += 1));
    return () => untrack(() => (this.#count -= 1));
  }
}

export const rowsInUse = new RowsInUse();

/** A list for the sidebar, as it was when a row came into use. */
export function still<T>(read: () => T): () => T {
  let shown: { list: T } | undefined;
  const list = $derived.by(() => {
    if (!shown || !rowsInUse.any) shown = { list: read() };
    return shown.list;
  });
  return () => list;
}
