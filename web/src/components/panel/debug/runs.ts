/** The runs of a chat, to choose one. */
import type { ChatMessage } from "../../../api/types.ts";
import { textOf } from "../../../state/tree.ts";

export interface ChatRun {
  id: string;
  /** Its place in the chat, from 1. */
  number: number;
  /** What was asked. */
  question: string;
  message: ChatMessage;
}

/** All of them, whatever branch they are on, the newest first. */
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
