/** What happens in the caller's chats, as the stream of activities tells it. */
import type { Outcome } from "./events.ts";

export interface Activity {
  chat: string | null;
  /** Null where the person has looked at the chat, or something was written beside it. */
  run: string | null;
  state:
    | "running"
    | "waiting"
    | "finished"
    | "read"
    | "changed"
    | "memory_update_started"
    | "memory_update_completed";
  outcome?: Outcome;
  title: string;
}
