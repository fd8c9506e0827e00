/** The outline of a chat: the messages of people by their first words. */
import type { ChatMessage } from "../api/types.ts";
import { textOf } from "./tree.ts";

/** A shorter chat has no outline. */
export const MIN_OUTLINE = 4;

/** More would not fit a line of the menu. */
const MAX_WORDS_LENGTH = 120;

export interface OutlineEntry {
  id: string;
  /** Its index in the branch. */
  turn: number;
  /** Empty if the message has no text and no named files. */
  words: string;
}

function firstWords(message: ChatMessage): string {
  const names = message.content.flatMap((part) =>
    "name" in part && typeof part.name === "string" ? [part.name] : [],
  );
  const text = textOf(message).slice(0, 1000).replace(/\s+/g, " ").trim() || names.join(", ");
  return text.length > MAX_WORDS_LENGTH ? `${text.slice(0, MAX_WORDS_LENGTH).trimEnd()}…` : text;
}

export const isOutlined = (path: readonly ChatMessage[]): boolean =>
  path.filter(({ role }) => role === "user").length >= MIN_OUTLINE;

export const outlineOf = (path: readonly ChatMessage[]): OutlineEntry[] =>
  path.flatMap((message, turn) =>
    message.role === "user" ? [{ id: message.id, turn, words: firstWords(message) }] : [],
  );

/** The entry that the turn belongs to: the last one up to it. */
export const entryAt = (entries: readonly OutlineEntry[], turn: number): OutlineEntry | undefined =>
  entries.findLast((entry) => entry.turn <= turn) ?? entries[0];
