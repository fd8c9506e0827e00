/** Words that another part of the page puts into the message field, for the person to go on from. */
class Prefill {
  /** What the field has yet to take. */
  words = $state<string | null>(null);

  put(words: string): void {
    this.words = words;
  }

  /** What is there to take, this once. */
  take(): string | null {
    const { words } = this;
    this.words = null;
    return words;
  }
}

export const prefill = new Prefill();
