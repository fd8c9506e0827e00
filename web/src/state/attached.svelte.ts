/**
 * Attachments of the message being written: uploads, and referenced documents and collections. Like drafts, they survive
 * a reload, except for files whose upload is not finished.
 */
import {
  deleteCollection,
  listDocuments,
  sendAttachment,
  type Collection,
  type Document,
} from "../api/knowledge.ts";
import type { Part } from "../api/types.ts";
import { keepText, readText } from "./drafts.ts";
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

const placeOf = (chat: string | null) => `attached.${chat ?? "new"}`;

class Attachments {
  list = $state<Attached[]>([]);
  readonly isUploading = $derived(this.list.some(({ state }) => state === "sending"));
  readonly isBusy = $derived(this.isUploading || this.list.some(({ state }) => state === "reading"));
  readonly parts = $derived(this.list.flatMap(partOf));
  #next = 1;
  /** Attachments of other chats, kept while another chat is open. */
  #kept = new Map<string | null, Attached[]>();
  #chat: string | null = null;
  #stops = new Map<number, AbortController>();

  constructor() {
    this.list = this.#restored(null);
  }

  /** Shows the attachments of `chat`. */
  open(chat: string | null): void {
    if (chat === this.#chat) return;
    this.#kept.set(this.#chat, this.list);
    this.list = this.#kept.get(chat) ?? this.#restored(chat);
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
    const signal = this.#stopping(key);
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

  #stopping(key: number): AbortSignal {
    const stop = new AbortController();
    this.#stops.set(key, stop);
    return stop.signal;
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
    this.#store(this.#chat, []);
    return all;
  }

  /** Restores attachments after a failed send. */
  putBack(all: Attached[]): void {
    this.list = [...all, ...this.list];
    this.#store(this.#chat, this.list);
  }

  #add(attached: Omit<Attached, "key">): number {
    const key = this.#next++;
    this.list.push({ key, ...attached });
    this.#store(this.#chat, this.list);
    return key;
  }

  #change(key: number, change: Partial<Attached>): void {
    for (const [chat, list] of this.#lists()) {
      const found = list.find((attached) => attached.key === key);
      if (!found) continue;
      Object.assign(found, change);
      this.#store(chat, list);
    }
  }

  #drop(key: number): void {
    this.#stops.get(key)?.abort();
    for (const [chat, list] of this.#lists()) {
      const rest = list.filter((attached) => attached.key !== key);
      if (rest.length === list.length) continue;
      if (chat === this.#chat) this.list = rest;
      else this.#kept.set(chat, rest);
      this.#store(chat, rest);
    }
  }

  #lists(): [string | null, Attached[]][] {
    return [[this.#chat, this.list], ...this.#kept];
  }

  #store(chat: string | null, list: Attached[]): void {
    const uploaded = list.filter(({ collection }) => collection !== null);
    keepText(placeOf(chat), uploaded.length === 0 ? null : JSON.stringify(uploaded));
  }

  /** Those of `chat` from before a reload. */
  #restored(chat: string | null): Attached[] {
    const list = parsed(readText(placeOf(chat))).map((one) => ({ ...one, key: this.#next++ }));
    for (const { key, state, collection } of list) {
      if (state === "reading" && collection !== null) void this.#followAgain(key, collection);
    }
    return list;
  }

  async #followAgain(key: number, collection: string): Promise<void> {
    try {
      await this.#follow(key, collection, this.#stopping(key));
    } catch {
      // It may be gone, or the server away: sending says so.
      this.#change(key, { state: "ready" });
    } finally {
      this.#stops.delete(key);
    }
  }
}

function parsed(json: string | null): Attached[] {
  try {
    const list: unknown = JSON.parse(json ?? "[]");
    return Array.isArray(list) ? (list as Attached[]) : [];
  } catch {
    return [];
  }
}

function partOf({ name, collection, document }: Attached): Part[] {
  if (collection === null) return [];
  if (document === null) return [{ type: "collection", collection, name }];
  return [{ type: "document", collection, document, name }];
}

export const attachments = new Attachments();
