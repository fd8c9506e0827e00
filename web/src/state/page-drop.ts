/** Files and links dropped anywhere: the browser would open them in the place of the page, and everything unsent with it. */

type Take = (files: File[]) => void;

class PageDrop {
  #take: Take | null = null;

  /** From now on files go there; the returned function ends that. */
  takeFiles(take: Take): () => void {
    this.#take = take;
    return () => {
      if (this.#take === take) this.#take = null;
    };
  }

  /** For the window. What a place inside the page has taken does not come here. */
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
    const isCovered = document.querySelector("dialog[open]") !== null;
    return this.#take !== null && !isCovered && (dataTransfer?.types.includes("Files") ?? false);
  }
}

/** Words dragged into a field stay the browser's. */
function isOwnDrag({ target, dataTransfer }: DragEvent): boolean {
  const isField = target instanceof Element && target.closest("input, textarea, [contenteditable]") !== null;
  return isField && !(dataTransfer?.types.includes("Files") ?? false);
}

export const pageDrop = new PageDrop();
