/** Autocompletion in the composer: requested after a pause in typing, cancelled when the typed text diverges. */
import { complete } from "../api/pipelines.ts";
import { goesOn, goingOn, remembered, type Known } from "./completion.ts";

/** Pause in typing before a request; longer within a word, where a pause rarely asks for a suggestion. */
const restMs = 180;
const restInWordMs = 400;
/** Shorter texts have no meaningful continuation. */
const minLength = 4;

/** A suggestion that is being streamed. */
interface Asked extends Known {
  abort: AbortController;
}

class Completion {
  /** The suggestion; empty if there is none. */
  ghost = $state("");

  #text = "";
  #known: Known[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: Asked | undefined;

  /** Called when the text changes, with the caret at its end. */
  follow(text: string, model: string): void {
    clearTimeout(this.#timer);
    this.#text = text;
    // Keep streaming while the user types what is suggested.
    if (this.#asked && !goesOn(this.#asked, text)) this.#giveUp();
    const known = goingOn(this.#known, text);
    this.ghost = known ?? "";
    if (known !== null || this.#asked || text.trim().length < minLength) return;
    const rest = /[\p{L}\p{N}]$/u.test(text) ? restInWordMs : restMs;
    this.#timer = setTimeout(() => void this.#ask(text, model), rest);
  }

  /** Hides the suggestion and cancels the request. */
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
      // Completions are optional, so errors are not shown.
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
