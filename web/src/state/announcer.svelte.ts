/** What screen readers are told: one polite line for progress, one alert for errors. */

const progressEveryMs = 5000;

class Announcer {
  polite = $state("");
  alert = $state("");
  #lastProgress = 0;

  /** Something that matters now. */
  say(text: string): void {
    this.polite = text;
    this.#lastProgress = Date.now();
  }

  /** Progress: left out when something was said a moment ago. */
  progress(text: string): void {
    if (Date.now() - this.#lastProgress < progressEveryMs) return;
    this.say(text);
  }

  error(text: string): void {
    this.alert = text;
  }
}

export const announcer = new Announcer();
