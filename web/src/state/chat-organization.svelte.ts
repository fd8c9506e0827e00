/** Organization of chats: folders, pins, tags, the archive, and the multi-selection. */
import { SvelteSet } from "svelte/reactivity";
import {
  createFolder,
  deleteChats,
  deleteFolder,
  listChats,
  listFolders,
  listTags,
  orderChats,
  renameFolder,
  setTags,
  type OrderChange,
} from "../api/calls.ts";
import type { ChatFolder, ChatRow, ChatTag } from "../api/types.ts";
import { chatSearch } from "./chat-search.svelte.ts";
import { chats } from "./chats.svelte.ts";

/** Which chats the sidebar lists. */
export type View = { kind: "all" } | { kind: "tag"; tag: string } | { kind: "archive" };

const pageSize = 100;

class ChatOrganization {
  folders = $state.raw<ChatFolder[]>([]);
  tags = $state.raw<ChatTag[]>([]);
  pinned = $state.raw<ChatRow[]>([]);
  view = $state.raw<View>({ kind: "all" });
  /** Chats of the current view, unless it shows all. */
  viewed = $state.raw<ChatRow[]>([]);
  more = $state(false);
  /** Chats of the expanded folders. */
  inside = $state.raw<Record<string, ChatRow[]>>({});
  selecting = $state(false);
  readonly selected = new SvelteSet<string>();

  /** Reloads everything. */
  async load(): Promise<void> {
    const [{ folders }, { tags }, pinned] = await Promise.all([
      listFolders(),
      listTags(),
      listChats({ pinned: true, limit: pageSize }),
    ]);
    this.folders = folders;
    this.tags = tags;
    this.pinned = pinned.chats;
    const open = Object.keys(this.inside).filter((id) => folders.some((folder) => folder.id === id));
    const rows = await Promise.all(open.map((folder) => listChats({ folder, limit: pageSize })));
    this.inside = Object.fromEntries(open.map((id, at) => [id, rows[at]?.chats ?? []]));
    if (this.view.kind !== "all") await this.show(this.view);
  }

  async show(view: View): Promise<void> {
    this.view = view;
    if (view.kind === "all") return;
    const answer = await listChats({ ...filterOf(view), limit: pageSize });
    if (this.view !== view) return;
    this.viewed = answer.chats;
    this.more = answer.more;
  }

  async showMore(): Promise<void> {
    const { view } = this;
    const before = this.viewed.at(-1)?.updated_at;
    if (view.kind === "all" || before === undefined) return;
    const answer = await listChats({ ...filterOf(view), before, limit: pageSize });
    if (this.view !== view) return;
    this.viewed = [...this.viewed, ...answer.chats];
    this.more = answer.more;
  }

  async open(folder: string): Promise<void> {
    const { chats } = await listChats({ folder, limit: pageSize });
    this.inside = { ...this.inside, [folder]: chats };
  }

  close(folder: string): void {
    this.inside = Object.fromEntries(Object.entries(this.inside).filter(([id]) => id !== folder));
  }

  async change(ids: string[], change: OrderChange): Promise<void> {
    await orderChats(ids, change);
    await this.#refresh();
  }

  async remove(ids: string[]): Promise<void> {
    await deleteChats(ids);
    chats.forget(ids);
    chatSearch.forget(ids);
    await this.#refresh();
  }

  async tag(id: string, tags: string[]): Promise<void> {
    await setTags(id, tags);
    await this.#refresh();
  }

  async newFolder(name: string): Promise<ChatFolder> {
    const folder = await createFolder(name);
    await this.load();
    return folder;
  }

  async rename(folder: string, name: string): Promise<void> {
    await renameFolder(folder, name);
    await this.load();
  }

  async dissolve(folder: string): Promise<void> {
    await deleteFolder(folder);
    await this.#refresh();
  }

  select(id: string): void {
    this.selecting = true;
    this.selected.add(id);
  }

  toggle(id: string): void {
    if (!this.selected.delete(id)) this.selected.add(id);
  }

  endSelecting(): void {
    this.selecting = false;
    this.selected.clear();
  }

  async #refresh(): Promise<void> {
    await Promise.all([chats.load(), this.load()]);
  }
}

function filterOf(view: Exclude<View, { kind: "all" }>): { tag: string } | { archived: boolean } {
  return view.kind === "tag" ? { tag: view.tag } : { archived: true };
}

export const chatOrganization = new ChatOrganization();
