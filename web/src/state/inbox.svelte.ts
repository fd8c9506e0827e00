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

  async load(): Promise<void> {
    this.items = (await listInbox()).items;
    this.loaded = true;
  }

  /** Keeps it up to date until the function that comes back is called. */
  watch(): () => void {
    this.#soon();
    const unlisten = chats.listen(({ run, state }) => {
      if (state === "waiting" || this.items.some((item) => item.run === run)) this.#soon();
    });
    return () => {
      clearTimeout(this.#timer);
      unlisten();
      this.items = [];
    };
  }

  #soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load().catch(() => {}), pauseMs);
  }
}

export const inbox = new Inbox();
