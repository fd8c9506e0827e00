/** Dragging a chat of the sidebar onto a folder. */
import type { ChatRow } from "../api/types.ts";
import { chatOrganization } from "./chat-organization.svelte.ts";
import { rowsInUse } from "./rows.svelte.ts";
import { attempt } from "./toasts.svelte.ts";

class ChatDrag {
  /** The dragged chat, which is never read from the event: other pages can drop anything. */
  chat = $state.raw<ChatRow | null>(null);
  /** Lets the lists move again. */
  #release: (() => void) | undefined;

  start(chat: ChatRow, event: DragEvent): void {
    const { currentTarget: row, dataTransfer } = event;
    if (!dataTransfer || !(row instanceof HTMLElement)) return;
    const box = row.getBoundingClientRect();
    dataTransfer.setDragImage(row, event.clientX - box.left, event.clientY - box.top);
    this.end();
    this.chat = chat;
    this.#release = rowsInUse.use();
    // A row that is removed meanwhile gets no `dragend`; there are no pointer events during a drag.
    addEventListener("pointerdown", this.end, { once: true, capture: true });
  }

  readonly end = (): void => {
    this.chat = null;
    this.#release?.();
    this.#release = undefined;
    removeEventListener("pointerdown", this.end, { capture: true });
  };
}

export const chatDrag = new ChatDrag();

/** A folder that a chat can be dropped on. */
export class FolderTarget {
  /** Whether a chat of another folder is over it. */
  isOver = $state(false);

  constructor(readonly folder: () => string) {}

  /** For `{@attach}`. */
  readonly attach = (element: HTMLElement) => {
    const listeners = new AbortController();
    const { signal } = listeners;
    element.addEventListener("dragover", (event) => this.#over(event), { signal });
    element.addEventListener("dragleave", (event) => this.#leave(event, element), { signal });
    element.addEventListener("drop", (event) => this.#drop(event), { signal });
    return () => listeners.abort();
  };

  #takes(chat: ChatRow | null): chat is ChatRow {
    return chat !== null && chat.folder !== this.folder();
  }

  #over(event: DragEvent): void {
    if (!this.#takes(chatDrag.chat)) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = "move";
    this.isOver = true;
  }

  /** Leaving for an element inside is none. */
  #leave({ relatedTarget }: DragEvent, element: HTMLElement): void {
    if (!(relatedTarget instanceof Node && element.contains(relatedTarget))) this.isOver = false;
  }

  #drop(event: DragEvent): void {
    const { chat } = chatDrag;
    this.isOver = false;
    if (!this.#takes(chat)) return;
    event.preventDefault();
    chatDrag.end();
    void attempt(() => chatOrganization.change([chat.id], { folder: this.folder() }));
  }
}
