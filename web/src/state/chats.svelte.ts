/** Chat list of the sidebar, kept up to date by the activity stream. */
import { activityPath, changeChat, listChats } from "../api/calls.ts";
import { follow, type Follower } from "../api/follow.ts";
import type { Activity } from "../api/activity.ts";
import type { ChatRow } from "../api/types.ts";

const pageSize = 60;

/** `before` is the previous state of the chat, if it is in the list. */
type ActivityListener = (activity: Activity, before: ChatRow | undefined) => void;

class Chats {
  list = $state.raw<ChatRow[]>([]);
  more = $state(false);
  loaded = $state(false);

  #follower: Follower | undefined;
  #listeners = new Set<ActivityListener>();
  #openListeners = new Set<() => void>();

  async load(): Promise<void> {
    const answer = await listChats({ limit: Math.max(pageSize, this.list.length) });
    this.list = answer.chats;
    this.more = answer.more;
    this.loaded = true;
  }

  async loadMore(): Promise<void> {
    const last = this.list.at(-1);
    if (!last || !this.more) return;
    const answer = await listChats({ before: last.updated_at, limit: pageSize });
    const known = new Set(this.list.map((chat) => chat.id));
    this.list = [...this.list, ...answer.chats.filter((chat) => !known.has(chat.id))];
    this.more = answer.more;
  }

  put(row: ChatRow): void {
    this.list = [row, ...this.list.filter((chat) => chat.id !== row.id)].sort(
      (a, b) => b.updated_at - a.updated_at,
    );
  }

  async rename(id: string, title: string): Promise<void> {
    const row = await changeChat(id, { title });
    this.#change(id, { title: row.title });
  }

  /** Removes these chats from the list. */
  forget(ids: string[]): void {
    this.list = this.list.filter((chat) => !ids.includes(chat.id));
  }

  rowOf(id: string): ChatRow | undefined {
    return this.list.find((chat) => chat.id === id);
  }

  #change(id: string, change: Partial<ChatRow>): void {
    const apply = (chat: ChatRow) => (chat.id === id ? { ...chat, ...change } : chat);
    this.list = this.list.map(apply);
  }

  /** Calls `listener` for every run that starts, waits or ends; returns a function that unsubscribes. */
  listen(listener: ActivityListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls `listener` whenever the stream is opened (again), because events may have been missed. */
  listenToOpening(listener: () => void): () => void {
    this.#openListeners.add(listener);
    return () => this.#openListeners.delete(listener);
  }

  watch(): void {
    this.#follower ??= follow({
      path: () => activityPath,
      onOpen: () => {
        // Events missed while disconnected are not sent again: reload the list.
        void this.load().catch(() => {});
        for (const listener of this.#openListeners) listener();
      },
      onFrames: (frames) => {
        for (const frame of frames) this.#take(JSON.parse(frame.data) as Activity);
      },
      isComplete: () => false,
    });
  }

  unwatch(): void {
    this.#follower?.stop();
    this.#follower = undefined;
  }

  #take(activity: Activity): void {
    const { chat } = activity;
    // Memory events do not affect the state of a chat.
    if (isOfMemory(activity.state)) return;
    const before = chat === null ? undefined : this.rowOf(chat);
    if (before) this.#change(before.id, changeBy(activity));
    else if (this.loaded && chat !== null) void this.load().catch(() => {});
    for (const listener of this.#listeners) listener(activity, before);
  }
}

const isOfMemory = (state: Activity["state"]): state is "memory_update_started" | "memory_update_completed" =>
  state === "memory_update_started" || state === "memory_update_completed";

/** The change of the chat's row caused by an activity. */
function changeBy({ state, outcome, title }: Activity): Partial<ChatRow> {
  if (state === "read") return { unread: false };
  const named = title ? { title } : {};
  if (state === "changed" || isOfMemory(state)) return named;
  if (state !== "finished") return { ...named, state };
  const unread = outcome === "cancelled" ? {} : { unread: true };
  return { ...named, ...unread, state: "idle", updated_at: Date.now() };
}

export const chats = new Chats();
