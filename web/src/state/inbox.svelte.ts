/** Everything that waits for the person, in all chats: asked for again whenever a run says that it changed. */
import { listInbox } from "../api/calls.ts";
import type { InboxItem } from "../api/types.ts";
import { chats } from "./chats.svelte.ts";

/** Several changes within this time are one question to the server. */
const pauseMs = 100;

class Inbox {
  items = $state.raw<InboxItem[]>([]);
  loaded = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** What was asked for before somebody else signed in is not theirs. */
  #generation = 0;

  async load(): Promise<void> {
    const generation = this.#generation;
    const { items } = await listInbox();
    if (generation !== this.#generation) return;
    this.items = items;
    this.loaded = true;
  }

  /** Keeps it up to date until the function that comes back is called. */
  watch(): () => void {
    this.#soon();
    const unlisten = chats.listen(({ run, state }) => {
      if (state === "waiting" || this.items.some((item) => item.run === run)) this.#soon();
    });
    const unlistenToOpening = chats.listenToOpening(() => this.#soon());
    return () => {
      clearTimeout(this.#timer);
      unlisten();
      unlistenToOpening();
      this.#generation += 1;
      this.loaded = false;
      this.items = [];
    };
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load().catch(() => {}), pauseMs);
  }
}

export const inbox = new Inbox();
