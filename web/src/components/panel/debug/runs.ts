/** Runs of a chat, for the run menu. */
import type { ChatMessage } from "../../../api/types.ts";
import { textOf } from "../../../state/tree.ts";

export interface ChatRun {
  id: string;
  /** Its number in the chat, from 1. */
  number: number;
  /** The user's message. */
  question: string;
  message: ChatMessage;
}

/** Runs of all branches, newest first. */
export function runsOf(messages: readonly ChatMessage[]): ChatRun[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const withRun = messages.filter((message) => message.run).toSorted((a, b) => a.created_at - b.created_at);
  return withRun
    .map((message, index) => {
      const asked = message.parent === null ? undefined : byId.get(message.parent);
      return {
        id: message.run ?? "",
        number: index + 1,
        question: asked ? textOf(asked).replace(/\s+/g, " ").trim() : "",
        message,
      };
    })
    .reverse();
}
