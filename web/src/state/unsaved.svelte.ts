/** Partly filled forms and other unsent work: asks for confirmation before navigation or closing the page. */

class Unsaved {
  /** Continues once the user agrees to discard the work. */
  asking = $state.raw<(() => void) | null>(null);
  #forms = new Set<HTMLFormElement>();
  #holders = new Set<() => boolean>();

  /** Asks before a reload while `isUnsent`, until the returned function is called. */
  hold(isUnsent: () => boolean): () => void {
    this.#holders.add(isUnsent);
    return () => this.#holders.delete(isUnsent);
  }

  /** Whether a form of this page has unsent input. */
  get hasForm(): boolean {
    for (const form of this.#forms) if (!form.isConnected) this.#forms.delete(form);
    return this.#forms.size > 0;
  }

  /** Proceeds immediately, or once the user agrees to discard the input. */
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
   * Window handler for input in forms with a submit button. Saved drafts, searches with their filters, and dialogs,
   * which ask themselves, are excluded.
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
