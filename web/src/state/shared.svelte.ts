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

  /**
   * Calls `onchange` when the chat has changed, while the page is visible, until its result is `true`: the change
   * was taken over. Returns a function that ends this.
   */
  watch(chat: string, onchange: () => Promise<boolean>): () => void {
    // Also once in the beginning: the chat may have changed since it was loaded.
    let known: number | undefined;
    const timer = setInterval(() => {
      if (document.hidden) return;
      void this.load().then(async () => {
        const now = this.list.find(({ id }) => id === chat)?.updated_at;
        if (now !== undefined && now !== known && (await onchange())) known = now;
      });
    }, checkIntervalMs);
    return () => clearInterval(timer);
  }
}

export const shared = new SharedChats();
