/** How the text in the message field could go on: asked for when the typing rests, given up at the next key that goes another
way. */
import { complete } from "../api/pipelines.ts";
import { goesOn, goingOn, remembered, type Known } from "./completion.ts";

/** How long the typing rests before a model is asked. Nobody stops in the middle of a word to see how it goes on. */
const restMs = 180;
const restInWordMs = 400;
/** Shorter texts could go on in any way. */
const minLength = 4;

/** An offer that is being written. */
interface Asked extends Known {
  abort: AbortController;
}

class Completion {
  /** What would follow; empty where nothing is offered. */
  ghost = $state("");

  #text = "";
  #known: Known[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: Asked | undefined;

  /** The text has become this, with the caret at its end. */
  follow(text: string, model: string): void {
    clearTimeout(this.#timer);
    this.#text = text;
    // Whoever types what is offered wants to see the rest of it.
    if (this.#asked && !goesOn(this.#asked, text)) this.#giveUp();
    const known = goingOn(this.#known, text);
    this.ghost = known ?? "";
    if (known !== null || this.#asked || text.trim().length < minLength) return;
    const rest = /[\p{L}\p{N}]$/u.test(text) ? restInWordMs : restMs;
    this.#timer = setTimeout(() => void this.#ask(text, model), rest);
  }

  /** Nothing is offered any more, and nobody is asked. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#giveUp();
    this.ghost = "";
  }

  #giveUp(): void {
    this.#asked?.abort.abort();
    this.#asked = undefined;
  }

  async #ask(text: string, model: string): Promise<void> {
    const asked = (this.#asked = { text, ghost: "", abort: new AbortController() });
    try {
      const ghost = await complete(model, text, asked.abort, (soFar) => {
        if (soFar !== "") this.#offer(asked, soFar);
      });
      this.#offer(asked, ghost);
    } catch {
      // It is a help, and no more: whoever writes is not told that it is not there.
    }
    if (this.#asked === asked) this.#asked = undefined;
  }

  #offer(asked: Asked, ghost: string): void {
    if (this.#asked !== asked) return;
    asked.ghost = ghost;
    this.#known = remembered(this.#known, { text: asked.text, ghost });
    this.ghost = goingOn(this.#known, this.#text) ?? "";
  }
}

export const completion = new Completion();
