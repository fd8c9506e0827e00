/** The search through chats: what was found by the words in the sidebar. */
import { searchChats } from "../api/calls.ts";
import type { FoundHit, FoundTitle } from "../api/types.ts";

class ChatSearch {
  query = $state("");
  titles = $state.raw<FoundTitle[]>([]);
  hits = $state.raw<FoundHit[]>([]);
  next = $state<string | null>(null);
  /** Also in what is put away. */
  archived = $state(false);
  /** Whether there is an answer to what is asked. */
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

  /** A title that was found is another by now. */
  rename(id: string, title: string): void {
    const rename = (found: FoundTitle) =>
      found.chat.id === id ? { chat: { ...found.chat, title }, parts: [{ text: title, hit: false }] } : found;
    this.titles = this.titles.map(rename);
  }

  /** Shows these no more. */
  forget(ids: string[]): void {
    this.titles = this.titles.filter(({ chat }) => !ids.includes(chat.id));
    this.hits = this.hits.filter(({ chat }) => !ids.includes(chat.id));
  }

  /** Nothing where something else is asked meanwhile. */
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
