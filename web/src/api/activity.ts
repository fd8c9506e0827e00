/** What happens in the caller's chats, as the stream of activities tells it. */
export type { Activity } from "./schema.ts";
