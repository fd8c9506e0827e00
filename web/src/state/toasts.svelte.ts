/** Toasts: short messages shown for a few seconds, mostly errors after a click. */
import { ApiError } from "../api/http.ts";
import { said, t } from "../i18n/index.svelte.ts";
import { copy } from "./clipboard.ts";

export interface Toast {
  id: number;
  text: string;
  isError: boolean;
  /** The action of its button. */
  action?: { label: string; run: () => Promise<unknown> } | undefined;
  /** The chat it is about: closed when that chat is opened. */
  chat?: string | undefined;
}

const shownForMs = 7000;

class Toasts {
  list = $state.raw<Toast[]>([]);
  #next = 1;

  /** Closes after a while unless `stays`, which is for a page that shows nothing else. */
  add(text: string, isError = false, action?: Toast["action"], chat?: string, stays = false): void {
    const id = this.#next++;
    // A repeated message replaces the earlier one.
    const others = this.list.filter((toast) => toast.text !== text);
    this.list = [...others, { id, text, isError, action, chat }];
    if (!stays) setTimeout(() => this.close(id), shownForMs);
  }

  closeOf(chat: string): void {
    const others = this.list.filter((toast) => toast.chat !== chat);
    if (others.length < this.list.length) this.list = others;
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();

/** The error message to show. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) return t("error.unexpected");
  return error.code === "offline" ? t("error.offline") : said(error);
}

/** For a server error, an administrator can find the request in the log. */
function copyRequestId(error: unknown): Toast["action"] {
  if (!(error instanceof ApiError) || error.status < 500 || error.requestId === null) return undefined;
  const { requestId } = error;
  return { label: t("error.copyRequestId"), run: () => copy(requestId) };
}

/** Runs an action and shows an error if it fails; returns whether it succeeded. */
export async function attempt(action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    toasts.add(sentenceOf(error), true, copyRequestId(error));
    return false;
  }
}

/**
 * Returns a function like `attempt` that runs actions one at a time: for changes that build on the previous one, or of
 * which the last must win.
 */
export function attemptsInTurn(): (action: () => Promise<unknown>) => Promise<boolean> {
  let last = Promise.resolve(true);
  return (action) => (last = last.then(() => attempt(action)));
}
