/** Half-filled forms and other unsent work: asked about before the page, or the browser, leaves them. */

class Unsaved {
  /** What goes on once it is agreed that the work is lost. */
  asking = $state.raw<(() => void) | null>(null);
  #forms = new Set<HTMLFormElement>();
  #holders = new Set<() => boolean>();

  /** Asks at a reload while `isUnsent`; the returned function ends that. */
  hold(isUnsent: () => boolean): () => void {
    this.#holders.add(isUnsent);
    return () => this.#holders.delete(isUnsent);
  }

  /** Whether a form of this page has been filled in and not been sent. */
  get hasForm(): boolean {
    for (const form of this.#forms) if (!form.isConnected) this.#forms.delete(form);
    return this.#forms.size > 0;
  }

  /** Goes on at once, or when somebody has said that what was filled in may be lost. */
  leave(proceed: () => void): void {
    if (this.hasForm) this.asking = proceed;
    else proceed();
  }

  answer(isLost: boolean): void {
    const proceed = this.asking;
    this.asking = null;
    if (!isLost) return;
    this.#forms.clear();
    proceed?.();
  }

  /**
   * For the window: what is typed into a form that is sent by a button. Drafts that are kept, searches with their filters, and
   * dialogs, which ask themselves, are left out.
   */
  readonly typed = ({ target }: Event): void => {
    if (!(target instanceof Element) || target.matches("[type=search], [type=file]")) return;
    const form = target.closest("form");
    if (!form || form.closest("dialog, [data-draft]") || form.querySelector("[type=search]")) return;
    if (form.querySelector("[type=submit], button:not([type])")) this.#forms.add(form);
  };

  readonly sent = ({ target }: Event): void => {
    if (target instanceof HTMLFormElement) this.#forms.delete(target);
  };

  readonly unload = (event: BeforeUnloadEvent): void => {
    if (this.hasForm || [...this.#holders].some((isUnsent) => isUnsent())) event.preventDefault();
  };
}

export const unsaved = new Unsaved();
