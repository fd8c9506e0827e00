/** Screen reader announcements: a polite live region for progress, an assertive one for errors. */

const progressEveryMs = 5000;

class Announcer {
  polite = $state("");
  alert = $state("");
  #lastProgress = 0;

  /** Announces something immediately. */
  say(text: string): void {
    this.polite = text;
    this.#lastProgress = Date.now();
  }

  /** Announces progress, unless something was announced a moment ago. */
  progress(text: string): void {
    if (Date.now() - this.#lastProgress < progressEveryMs) return;
    this.say(text);
  }

  error(text: string): void {
    this.alert = text;
  }
}

export const announcer = new Announcer();
