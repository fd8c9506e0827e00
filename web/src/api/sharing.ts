/** What the sharing of a chat answers; see docs/reference/api.md. */

/** Whom a chat is shared with: everybody here who has its address, and these. */
export interface Sharing {
  open: boolean;
  readers: ChatReader[];
}

export interface ChatReader {
  id: string;
  name: string;
  email: string;
}
