/** Chats that other users share with the current user. */
import { listShared } from "../api/calls.ts";
import type { ChatRow } from "../api/types.ts";

/** How often an open chat of another user is checked for new messages, which no event announces. */
const checkIntervalMs = 5000;

class SharedChats {
  list = $state.raw<ChatRow[]>([]);

  async load(): Promise<void> {
    try {
      this.list = (await listShared()).chats;
    } catch {
      // Ignored: the next load may succeed, and the error is unrelated to the user's action.
    }
  }

  /** Calls `onchange` whenever the chat has changed, while the page is visible. Returns a function that ends this. */
  watch(chat: string, onchange: () => void): () => void {
    const changedAt = () => this.list.find(({ id }) => id === chat)?.updated_at;
    let known = changedAt();
    const timer = setInterval(() => {
      if (document.hidden) return;
      void this.load().then(() => {
        const now = changedAt();
        if (now !== undefined && known !== undefined && now !== known) onchange();
        known = now ?? known;
      });
    }, checkIntervalMs);
    return () => clearInterval(timer);
  }
}

export const shared = new SharedChats();
