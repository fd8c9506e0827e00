/** Chats that other users share with the current user. */
import { listShared } from "../api/calls.ts";
import type { ChatRow } from "../api/types.ts";

class SharedChats {
  list = $state.raw<ChatRow[]>([]);

  async load(): Promise<void> {
    try {
      this.list = (await listShared()).chats;
    } catch {
      // Ignored: the next load may succeed, and the error is unrelated to the user's action.
    }
  }
}

export const shared = new SharedChats();
