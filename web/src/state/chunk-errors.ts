/** Recovery from chunks that fail to load, because the server was updated or the connection broke. */
import { storageKey } from "../api/base.ts";
import { getMe } from "../api/calls.ts";
import { t } from "../i18n/index.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

const key = storageKey("reloaded");
/** If a chunk is missing again within this time, reloading does not help. */
const soonMs = 60_000;

/** One recovery per error: a component and the listener below may handle the same one. */
const recoveries = new WeakMap<object, Promise<boolean>>();

/** Shows a toast for errors that no component handles. */
export function watchChunkErrors(): void {
  addEventListener("vite:preloadError", ({ payload }) => {
    // The importing component gets the error first.
    setTimeout(() => {
      if (!recoveries.has(payload)) void recover(payload).then((isReloading) => isReloading || tell());
    });
  });
}

/**
 * Reloads the page to get the current chunks; drafts are kept and runs continue. Resolves to `false` if reloading does
 * not help, or the server is unreachable.
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

/** Reloads the page if the server is reachable. */
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
