/** The chats that others share with whoever is signed in. */
import { listShared } from "../api/calls.ts";
import type { ChatRow } from "../api/types.ts";

class SharedChats {
  list = $state.raw<ChatRow[]>([]);

  async load(): Promise<void> {
    try {
      this.list = (await listShared()).chats;
    } catch {
      // The next look may find them; what is missing here is no fault of what the person does.
    }
  }
}

export const shared = new SharedChats();
