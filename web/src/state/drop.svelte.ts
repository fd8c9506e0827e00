/** Drop target for files. */

interface Options {
  /** Whether files are accepted now. */
  takes: () => boolean;
  drop: (transfer: DataTransfer) => void;
}

export class DropPlace {
  /** Whether files are being dragged over it. */
  isOver = $state(false);

  constructor(readonly options: Options) {}

  /** For `{@attach}`. Drops here are not passed on to outer targets. */
  readonly attach = (element: HTMLElement) => {
    const listeners = new AbortController();
    const { signal } = listeners;
    element.addEventListener("dragover", (event) => this.#over(event), { signal });
    element.addEventListener("dragleave", () => (this.isOver = false), { signal });
    element.addEventListener("drop", (event) => this.#drop(event), { signal });
    return () => listeners.abort();
  };

  #bringsFiles({ dataTransfer }: DragEvent): boolean {
    return this.options.takes() && (dataTransfer?.types.includes("Files") ?? false);
  }

  #over(event: DragEvent): void {
    if (!this.#bringsFiles(event)) return;
    event.preventDefault();
    this.isOver = true;
  }

  #drop(event: DragEvent): void {
    this.isOver = false;
    if (!this.#bringsFiles(event) || !event.dataTransfer) return;
    event.preventDefault();
    event.stopPropagation();
    this.options.drop(event.dataTransfer);
  }
}
