/** Short messages that come up for a few seconds: mostly what went wrong with a click. */
import { ApiError } from "../api/http.ts";
import { said, t } from "../i18n/index.svelte.ts";

export interface Toast {
  id: number;
  text: string;
  isError: boolean;
  /** What its button does. */
  action?: { label: string; run: () => Promise<unknown> } | undefined;
  /** The chat it speaks of: whoever looks at that needs it no more. */
  chat?: string | undefined;
}

const shownForMs = 7000;

class Toasts {
  list = $state.raw<Toast[]>([]);
  #next = 1;

  /** It goes after a while, unless `stays`: where there is nothing else on the page. */
  add(text: string, isError = false, action?: Toast["action"], chat?: string, stays = false): void {
    const id = this.#next++;
    // What is said again takes the place of what was said.
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

/** The sentence to show for a failure. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError)) return t("error.unexpected");
  return error.code === "offline" ? t("error.offline") : said(error);
}

/** For a fault of the server, whoever runs it can find the request in the log. */
function copyRequestId(error: unknown): Toast["action"] {
  if (!(error instanceof ApiError) || error.status < 500 || error.requestId === null) return undefined;
  const { requestId } = error;
  const failed = () => toasts.add(t("error.copyFailed"), true);
  const run = () => navigator.clipboard.writeText(requestId).catch(failed);
  return { label: t("error.copyRequestId"), run };
}

/** Runs what a click started and shows what went wrong; tells whether it went well. */
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
 * Gives a function like `attempt` that begins once what it was given before has ended: for changes that build on what
 * the one before has left, or that the last of has to stay.
 */
export function attemptsInTurn(): (action: () => Promise<unknown>) => Promise<boolean> {
  let last = Promise.resolve(true);
  return (action) => (last = last.then(() => attempt(action)));
}
