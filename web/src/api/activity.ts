/** Events of the activity stream for the caller's chats. */
export type { Activity } from "./schema.ts";
