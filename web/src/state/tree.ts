/** Functions on the tree of messages that makes up a chat. */
import type { ChatMessage } from "../api/types.ts";

export type Message = ChatMessage;

/** The messages from the root to `leaf`. */
export function pathTo(messages: Message[], leaf: string | null): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: Message[] = [];
  const seen = new Set<string>();
  let next = leaf === null ? undefined : byId.get(leaf);
  while (next && !seen.has(next.id)) {
    seen.add(next.id);
    path.push(next);
    next = next.parent === null ? undefined : byId.get(next.parent);
  }
  return path.reverse();
}

/** For every message: the messages with the same parent and role, oldest first, including itself. */
export function siblingGroups(messages: Message[]): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const key = `${message.parent} ${message.role}`;
    const group = groups.get(key);
    if (group) group.push(message);
    else groups.set(key, [message]);
  }
  const result = new Map<string, Message[]>();
  for (const group of groups.values()) {
    group.sort((a, b) => a.created_at - b.created_at);
    for (const message of group) result.set(message.id, group);
  }
  return result;
}

/** The alternatives of `message`, including itself unless it is a merged answer; oldest first. */
export function besideOf(messages: Message[], message: Message): Message[] {
  const first = message.beside ?? message.id;
  const row = messages.filter(
    (other) => other.id === first || (other.beside === first && (other.made_of ?? []).length === 0),
  );
  return row.sort((a, b) => a.created_at - b.created_at);
}

/** The newest leaf under `root` (`root` itself if it has no children). */
export function newestLeaf(messages: Message[], root: string): string {
  const children = new Map<string, Message[]>();
  for (const message of messages) {
    if (message.parent === null) continue;
    const list = children.get(message.parent);
    if (list) list.push(message);
    else children.set(message.parent, [message]);
  }
  let leaf = root;
  for (;;) {
    const list = children.get(leaf);
    if (!list || list.length === 0) return leaf;
    leaf = list.reduce((newest, message) => (message.created_at >= newest.created_at ? message : newest)).id;
  }
}

/** The text of a message, without images. */
export function textOf(message: Message): string {
  return message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
