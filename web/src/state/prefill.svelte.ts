/** Text that another part of the page puts into the composer. */
class Prefill {
  /** Text not taken by the composer yet. */
  words = $state<string | null>(null);

  put(words: string): void {
    this.words = words;
  }

  /** Returns the text and clears it. */
  take(): string | null {
    const { words } = this;
    this.words = null;
    return words;
  }
}

export const prefill = new Prefill();
