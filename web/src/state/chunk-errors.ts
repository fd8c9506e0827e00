/** Recovery from chunks that cannot be loaded: the server was updated since the page was, or the connection broke. */
import { getMe } from "../api/calls.ts";
import { t } from "../i18n/index.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

const key = "glasshouse.reloaded";
/** A chunk that is missing again this soon does not come by reloading the page. */
const soonMs = 60_000;

/** One for each error: a component and the listener below may ask about the same one. */
const recoveries = new WeakMap<object, Promise<boolean>>();

/** Tells of those that no component has shown in its own place. */
export function watchChunkErrors(): void {
  addEventListener("vite:preloadError", ({ payload }) => {
    // Whoever has asked for the chunk gets the error first.
    setTimeout(() => {
      if (!recoveries.has(payload)) void recover(payload).then((isReloading) => isReloading || tell());
    });
  });
}

/**
 * Reloads the page, which has the chunks that there are now; drafts are kept, and runs go on. Gives false where that does not
 * help, or there is no server to load the page from.
 */
export function recover(error: object): Promise<boolean> {
  const recovery = recoveries.get(error) ?? reloadOnce();
  recoveries.set(error, recovery);
  return recovery;
}

async function reloadOnce(): Promise<boolean> {
  const isSoon = Date.now() - Number(sessionStorage.getItem(key)) < soonMs;
  return !isSoon && (await reload());
}

/** Reloads the page if there is a server to load it from. */
export async function reload(): Promise<boolean> {
  if (!(await serverAnswers())) return false;
  sessionStorage.setItem(key, String(Date.now()));
  location.reload();
  return true;
}

function tell(): void {
  const run = () => Promise.resolve(location.reload());
  toasts.add(t("error.partLost"), true, { label: t("action.reload"), run }, undefined, true);
}

const serverAnswers = () =>
  getMe().then(
    () => true,
    () => false,
  );
