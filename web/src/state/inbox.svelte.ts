/** Inbox: pending approvals and questions of all chats, reloaded whenever a run reports a change. */
import { listInbox } from "../api/calls.ts";
import type { InboxItem } from "../api/types.ts";
import { chats } from "./chats.svelte.ts";

/** Changes within this time cause a single request. */
const pauseMs = 100;
/** How long the first request waits for the activity stream, whose opening causes one. */
const openingMs = 1000;

class Inbox {
  items = $state.raw<InboxItem[]>([]);
  loaded = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Responses requested before another user signed in are discarded. */
  #generation = 0;

  async load(): Promise<void> {
    const generation = this.#generation;
    const { items } = await listInbox();
    if (generation !== this.#generation) return;
    this.items = items;
    this.loaded = true;
  }

  /** Keeps the inbox up to date until the returned function is called. */
  watch(): () => void {
    this.#soon(openingMs);
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

  #soon(waitMs = pauseMs): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load().catch(() => {}), waitMs);
  }
}

export const inbox = new Inbox();
