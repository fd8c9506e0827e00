/** How the text in the message field could go on: asked for when the typing rests, given up at the next key. */
import { complete } from "../api/pipelines.ts";
import { goingOn, remembered, type Known } from "./completion.ts";

/** How long the typing rests before a model is asked. Nobody stops in the middle of a word to see how it goes on. */
const restMs = 150;
const restInWordMs = 400;
/** Shorter texts could go on in any way. */
const leastChars = 4;

class Completion {
  /** What would follow; empty where nothing is offered. */
  ghost = $state("");

  #known: Known[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | undefined;

  /** The text has become this, with the caret at its end. */
  follow(text: string, model: string): void {
    this.stop();
    const known = goingOn(this.#known, text);
    if (known !== null) {
      this.ghost = known;
      return;
    }
    if (text.trim().length < leastChars) return;
    const rest = /[\p{L}\p{N}]$/u.test(text) ? restInWordMs : restMs;
    this.#timer = setTimeout(() => void this.#ask(text, model), rest);
  }

  /** Nothing is offered any more, and nobody is asked. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = undefined;
    this.ghost = "";
  }

  async #ask(text: string, model: string): Promise<void> {
    const asked = (this.#asked = new AbortController());
    try {
      const ghost = await complete(model, text, asked.signal);
      this.#known = remembered(this.#known, { text, ghost });
      if (this.#asked === asked) this.ghost = ghost;
    } catch {
      // It is a help, and no more: whoever writes is not told that it is not there.
    }
  }
}

export const completion = new Completion();
