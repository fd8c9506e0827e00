/** Whom a chat is shared with: everybody here who has its address, and some by name. */
export type { ChatReader, ChatSharing as Sharing } from "./schema.ts";
