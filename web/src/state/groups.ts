/** Groups of chats in the sidebar. */
import type { ChatRow } from "../api/types.ts";

export type GroupName = "running" | "today" | "yesterday" | "earlier";
export interface Group {
  name: GroupName;
  chats: ChatRow[];
}

/** Groups the chats by day; running and waiting ones come first. */
export function groupChats(chats: ChatRow[], now: Date): Group[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1).getTime();
  const groups: Record<GroupName, ChatRow[]> = { running: [], today: [], yesterday: [], earlier: [] };
  for (const chat of chats) {
    if (chat.state !== "idle") groups.running.push(chat);
    else if (chat.updated_at >= today) groups.today.push(chat);
    else if (chat.updated_at >= yesterday) groups.yesterday.push(chat);
    else groups.earlier.push(chat);
  }
  return (Object.keys(groups) as GroupName[])
    .map((name) => ({ name, chats: groups[name] }))
    .filter((group) => group.chats.length > 0);
}
