/** API types for chat sharing: with every signed-in user who has the address, or with individual users. */
export type { ChatReader, ChatSharing as Sharing } from "./schema.ts";
