/** Search through chats from the sidebar. */
import { searchChats } from "../api/calls.ts";
import type { FoundHit, FoundTitle } from "../api/types.ts";

class ChatSearch {
  query = $state("");
  titles = $state.raw<FoundTitle[]>([]);
  hits = $state.raw<FoundHit[]>([]);
  next = $state<string | null>(null);
  /** Whether archived chats are included. */
  archived = $state(false);
  /** Whether the results for the current query have arrived. */
  answered = $state(false);
  #abort: AbortController | undefined;

  async look(query: string): Promise<void> {
    this.#abort?.abort();
    this.query = query;
    if (query.trim() === "") {
      this.titles = [];
      this.hits = [];
      this.next = null;
      this.answered = false;
      return;
    }
    const found = await this.#ask({ query });
    if (!found) return;
    this.titles = found.titles;
    this.hits = found.hits;
    this.next = found.next;
    this.answered = true;
  }

  async more(): Promise<void> {
    if (this.next === null) return;
    const found = await this.#ask({ query: this.query, before: this.next });
    if (!found) return;
    this.hits = [...this.hits, ...found.hits];
    this.next = found.next;
  }

  /** Updates the title of a result. */
  rename(id: string, title: string): void {
    const rename = (found: FoundTitle) =>
      found.chat.id === id ? { chat: { ...found.chat, title }, parts: [{ text: title, hit: false }] } : found;
    this.titles = this.titles.map(rename);
  }

  /** Removes these chats from the results. */
  forget(ids: string[]): void {
    this.titles = this.titles.filter(({ chat }) => !ids.includes(chat.id));
    this.hits = this.hits.filter(({ chat }) => !ids.includes(chat.id));
  }

  /** Returns `null` if the query has changed in the meantime. */
  async #ask(asked: { query: string; before?: string }) {
    const abort = (this.#abort = new AbortController());
    try {
      const found = await searchChats({ ...asked, archived: this.archived }, abort.signal);
      return abort.signal.aborted ? null : found;
    } catch (error) {
      if (abort.signal.aborted) return null;
      throw error;
    }
  }
}

export const chatSearch = new ChatSearch();
