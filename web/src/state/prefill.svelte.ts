/** Text that another part of the page puts into the composer. */
class Prefill {
  /** Text not taken by the composer yet. */
  words = $state<string | null>(null);
  /** Whether it goes below the draft instead of above. */
  isBelow = false;

  put(words: string): void {
    this.isBelow = false;
    this.words = words;
  }

  /** Puts a paragraph below the draft, with room for more after it. */
  append(words: string): void {
    this.isBelow = true;
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
