/**
 * Tracks sidebar rows with an open menu, dialog or text field. A row that moves in the list would close it and lose the
 * input, so the lists are frozen meanwhile.
 */
import { untrack } from "svelte";

class RowsInUse {
  #count = $state(0);

  get any(): boolean {
    return this.#count > 0;
  }

  /** Freezes the lists until the returned function is called. */
  use(): () => void {
    untrack(() => (this.#count += 1));
    return () => untrack(() => (this.#count -= 1));
  }
}

export const rowsInUse = new RowsInUse();

/** A sidebar list, frozen while a row is in use. */
export function still<T>(read: () => T): () => T {
  let shown: { list: T } | undefined;
  const list = $derived.by(() => {
    if (!shown || !rowsInUse.any) shown = { list: read() };
    return shown.list;
  });
  return () => list;
}
