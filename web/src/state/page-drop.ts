/** Handles files and links dropped anywhere: the browser would replace the page with them, losing unsent input. */
import { isModal } from "./composer-focus.ts";

type Take = (files: File[]) => void;

class PageDrop {
  #take: Take | null = null;

  /** Passes dropped files to `take` until the returned function is called. */
  takeFiles(take: Take): () => void {
    this.#take = take;
    return () => {
      if (this.#take === take) this.#take = null;
    };
  }

  /** Window handlers. Events handled by a drop target inside the page are skipped. */
  readonly over = (event: DragEvent): void => {
    if (event.defaultPrevented || isOwnDrag(event)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = this.#takes(event) ? "copy" : "none";
  };

  readonly drop = (event: DragEvent): void => {
    if (event.defaultPrevented || isOwnDrag(event)) return;
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0 && this.#takes(event)) this.#take?.(files);
  };

  #takes({ dataTransfer }: DragEvent): boolean {
    return this.#take !== null && !isModal() && (dataTransfer?.types.includes("Files") ?? false);
  }
}

/** Text dragged into a field is left to the browser. */
function isOwnDrag({ target, dataTransfer }: DragEvent): boolean {
  const isField = target instanceof Element && target.closest("input, textarea, [contenteditable]") !== null;
  return isField && !(dataTransfer?.types.includes("Files") ?? false);
}

export const pageDrop = new PageDrop();
