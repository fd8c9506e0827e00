/** Groups of chats in the sidebar. */
import type { ChatRow } from "../api/types.ts";

export type Period = "running" | "today" | "yesterday" | "week" | "month";
export interface Group {
  id: string;
  /** A recent period, or the first day of a calendar month. */
  title: Period | Date;
  chats: ChatRow[];
}

/** Groups the chats by their last change, newest first; running and waiting ones come before all others. */
export function groupChats(chats: ChatRow[], now: Date): Group[] {
  const daysAgo = (days: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
  const starts: [Period, number][] = [
    ["today", daysAgo(0)],
    ["yesterday", daysAgo(1)],
    ["week", daysAgo(7)],
    ["month", daysAgo(30)],
  ];
  const running: ChatRow[] = [];
  const groups = new Map<string, Group>();
  for (const chat of [...chats].sort((a, b) => b.updated_at - a.updated_at)) {
    if (chat.state !== "idle") {
      running.push(chat);
      continue;
    }
    const period = starts.find(([, start]) => chat.updated_at >= start)?.[0];
    const title = period ?? monthOf(chat.updated_at);
    const id = String(title);
    const group = groups.get(id) ?? { id, title, chats: [] };
    groups.set(id, group);
    group.chats.push(chat);
  }
  const first: Group[] = running.length > 0 ? [{ id: "running", title: "running", chats: running }] : [];
  return [...first, ...groups.values()];
}

function monthOf(at: number): Date {
  const date = new Date(at);
  return new Date(date.getFullYear(), date.getMonth());
}
