/** What goes along with the message that is being written: files on their way, documents and collections pointed to. */
import {
  deleteCollection,
  listDocuments,
  sendAttachment,
  type Collection,
  type Document,
} from "../api/knowledge.ts";
import type { Part } from "../api/types.ts";
import { wordsOf } from "./knowledge/problems.ts";
import { sentenceOf, toasts } from "./toasts.svelte.ts";

const firstPauseMs = 300;
const maxPauseMs = 4000;

export interface Attached {
  key: number;
  name: string;
  /** Null while a file is on its way. */
  collection: string | null;
  /** Null for a whole collection, and while a file is on its way. */
  document: string | null;
  /** Of a file that came for this message. */
  isFile: boolean;
  /** How much of a file went, 0 to 1. */
  sent: number;
  /** `partly`: there is no text, but the file goes along. */
  state: "sending" | "reading" | "ready" | "partly";
  problem: string;
}

class Attachments {
  list = $state<Attached[]>([]);
  readonly isBusy = $derived(this.list.some(({ state }) => state === "sending" || state === "reading"));
  readonly parts = $derived(this.list.flatMap(partOf));
  #next = 1;
  /** Those of chats that are not shown: nothing is lost by a look at another one. */
  #kept = new Map<string | null, Attached[]>();
  #chat: string | null = null;
  #stops = new Map<number, AbortController>();

  /** Shows those of `chat`. */
  open(chat: string | null): void {
    if (chat === this.#chat) return;
    this.#kept.set(this.#chat, this.list);
    this.list = this.#kept.get(chat) ?? [];
    this.#kept.delete(chat);
    this.#chat = chat;
  }

  addCollection({ id, name }: Collection): void {
    if (this.list.some(({ collection, document }) => collection === id && document === null)) return;
    this.#add({ name, collection: id, document: null, isFile: false, sent: 1, state: "ready", problem: "" });
  }

  addDocument(collection: string, { id, name }: Document): void {
    if (this.list.some(({ document }) => document === id)) return;
    this.#add({ name, collection, document: id, isFile: false, sent: 1, state: "ready", problem: "" });
  }

  /** Sends a file and follows how it is read. One that does not come is taken off, with a word. */
  async addFile(file: File): Promise<void> {
    const blank = { collection: null, document: null, problem: "" };
    const key = this.#add({ name: file.name, ...blank, isFile: true, sent: 0, state: "sending" });
    const stop = new AbortController();
    this.#stops.set(key, stop);
    const { signal } = stop;
    try {
      const onprogress = (bytes: number) => this.#change(key, { sent: bytes / Math.max(1, file.size) });
      const { collection, id } = await sendAttachment(file.name, file, { signal, onprogress });
      this.#change(key, { collection, document: id, sent: 1, state: "reading" });
      await this.#follow(key, collection, signal);
    } catch (error) {
      if (signal.aborted) return;
      toasts.add(`${file.name}: ${sentenceOf(error)}`, true);
      this.#drop(key);
    } finally {
      this.#stops.delete(key);
    }
  }

  async #follow(key: number, collection: string, signal: AbortSignal): Promise<void> {
    for (let pause = firstPauseMs; ; pause = Math.min(pause * 1.5, maxPauseMs)) {
      const [document] = (await listDocuments(collection)).documents;
      if (signal.aborted) return;
      if (document?.state !== "waiting") {
        const isRead = document?.state === "ready";
        const problem = isRead ? "" : wordsOf(document?.problem ?? null);
        this.#change(key, { state: isRead ? "ready" : "partly", problem });
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (signal.aborted) return;
    }
  }

  /** Takes one off. The file of one that came for this message is deleted. */
  remove({ key, collection, isFile }: Attached): void {
    this.#drop(key);
    // It would be deleted in a day anyway.
    if (isFile && collection !== null) deleteCollection(collection).catch(() => undefined);
  }

  /** Forgets all of them, as they were sent. */
  clear(): Attached[] {
    const all = this.list;
    for (const { key } of all) this.#stops.get(key)?.abort();
    this.list = [];
    return all;
  }

  /** Puts back what was not sent after all. */
  putBack(all: Attached[]): void {
    this.list = [...all, ...this.list];
  }

  #add(attached: Omit<Attached, "key">): number {
    const key = this.#next++;
    this.list.push({ key, ...attached });
    return key;
  }

  #change(key: number, change: Partial<Attached>): void {
    for (const list of [this.list, ...this.#kept.values()]) {
      const found = list.find((attached) => attached.key === key);
      if (found) Object.assign(found, change);
    }
  }

  #drop(key: number): void {
    this.#stops.get(key)?.abort();
    this.list = this.list.filter((attached) => attached.key !== key);
    for (const [chat, list] of this.#kept)
      this.#kept.set(
        chat,
        list.filter((attached) => attached.key !== key),
      );
  }
}

function partOf({ name, collection, document }: Attached): Part[] {
  if (collection === null) return [];
  if (document === null) return [{ type: "collection", collection, name }];
  return [{ type: "document", collection, document, name }];
}

export const attachments = new Attachments();
