/**
 * Stopping a run by key: the first press asks for a second one, so that a single key press cannot discard an hour of
 * work.
 */
import { t } from "../i18n/index.svelte.ts";
import { announcer } from "./announcer.svelte.ts";
import { openChat } from "./chat.svelte.ts";
import { attempt } from "./toasts.svelte.ts";

/** How long to wait for the second press. */
export const SECOND_PRESS_MS = 2000;

class StopKey {
  /** The run that a second press stops. */
  run = $state.raw<string | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  press(): void {
    const active = openChat.active?.id ?? null;
    const isSecond = active !== null && this.run === active;
    this.reset();
    if (isSecond) {
      void attempt(() => openChat.stop());
      return;
    }
    if (active === null) return;
    this.run = active;
    announcer.say(t("keyboard.stopAgain"));
    this.#timer = setTimeout(() => this.reset(), SECOND_PRESS_MS);
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.run = null;
  }
}

export const stopKey = new StopKey();
