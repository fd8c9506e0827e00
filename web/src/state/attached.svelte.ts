/** Attachments of the message being written: uploads, and referenced documents and collections. */
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
  /** `null` while a file is uploading. */
  collection: string | null;
  /** `null` for a whole collection, and while a file is uploading. */
  document: string | null;
  /** Whether it is a file uploaded for this message. */
  isFile: boolean;
  /** Upload progress, 0 to 1. */
  sent: number;
  /** `partly`: no text could be extracted, but the file is attached. */
  state: "sending" | "reading" | "ready" | "partly";
  problem: string;
  /** The content, if it is a text that was pasted. */
  text?: string;
}

class Attachments {
  list = $state<Attached[]>([]);
  readonly isBusy = $derived(this.list.some(({ state }) => state === "sending" || state === "reading"));
  readonly parts = $derived(this.list.flatMap(partOf));
  #next = 1;
  /** Attachments of other chats, kept while another chat is open. */
  #kept = new Map<string | null, Attached[]>();
  #chat: string | null = null;
  #stops = new Map<number, AbortController>();

  /** Shows the attachments of `chat`. */
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

  /**
   * Uploads a file and tracks its processing. If that fails, it is removed with a message. `text` is its content if it
   * was pasted. Resolves to whether it was not refused.
   */
  async addFile(file: File, text?: string): Promise<boolean> {
    const blank = { collection: null, document: null, problem: "", ...(text === undefined ? {} : { text }) };
    const key = this.#add({ name: file.name, ...blank, isFile: true, sent: 0, state: "sending" });
    const stop = new AbortController();
    this.#stops.set(key, stop);
    const { signal } = stop;
    try {
      const onprogress = (bytes: number) => this.#change(key, { sent: bytes / Math.max(1, file.size) });
      const { collection, id } = await sendAttachment(file.name, file, { signal, onprogress });
      this.#change(key, { collection, document: id, sent: 1, state: "reading" });
      await this.#follow(key, collection, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      toasts.add(`${file.name}: ${sentenceOf(error)}`, true);
      this.#drop(key);
      return false;
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

  /** Removes an attachment. A file uploaded for this message is deleted. */
  remove({ key, collection, isFile }: Attached): void {
    this.#drop(key);
    // Ignore errors: the server deletes it after a day anyway.
    if (isFile && collection !== null) deleteCollection(collection).catch(() => undefined);
  }

  /** Removes all attachments after sending, and returns them. */
  clear(): Attached[] {
    const all = this.list;
    for (const { key } of all) this.#stops.get(key)?.abort();
    this.list = [];
    return all;
  }

  /** Restores attachments after a failed send. */
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
