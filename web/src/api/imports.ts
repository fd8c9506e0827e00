/** What an import answers; see docs/team/your-data.md. */
import type { Coded } from "./events.ts";

/** How many there were of each kind. */
export interface ImportCounts {
  chats: number;
  messages: number;
  runs: number;
  files: number;
  memories: number;
  facts: number;
  schedules: number;
  collections: number;
  documents: number;
}

/** What came of an import. */
export interface ImportReport {
  format: "glasshouse" | "open_webui";
  made: ImportCounts;
  here: ImportCounts;
  left: {
    what:
      | "chat"
      | "message"
      | "run"
      | "file"
      | "memory"
      | "fact"
      | "schedule"
      | "collection"
      | "document"
      | "key"
      | "agent"
      | "line";
    /** Which, where it has a name. */
    name: string;
    /** A sentence. */
    why: string;
    /** The same by its code. */
    sentence?: Coded;
    count: number;
  }[];
  /** How many more were left than are listed. */
  left_more: number;
}
