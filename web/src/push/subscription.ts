/** Push notifications of this browser: they come also while no page is open. */
import { storageKey, urlOf, withBase } from "../api/base.ts";
import { addPushSubscription, pushKey, removePushSubscription } from "../api/calls.ts";
import { language } from "../i18n/index.svelte.ts";
import { router } from "../state/router.svelte.ts";
import { addressOf } from "./news.ts";

const rememberedKey = storageKey("push");

const isPossible = () => "serviceWorker" in navigator && "PushManager" in window;

const registration = () => navigator.serviceWorker.register(withBase("/push-worker.js"));

/** The ID of this browser's subscription on the server. */
function remember(id: string | null): void {
  try {
    if (id === null) localStorage.removeItem(rememberedKey);
    else localStorage.setItem(rememberedKey, id);
  } catch {
    // Storage is unavailable: the subscription ends with the session.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(rememberedKey);
  } catch {
    return null;
  }
}

/**
 * Subscribes this browser for the current session, or again in another language. Returns whether it will be notified;
 * a browser without a push service, or one that cannot reach it, is not.
 */
export async function subscribe(): Promise<boolean> {
  if (!isPossible()) return false;
  try {
    const { public_key } = await pushKey();
    const worker = await registration();
    const known = await worker.pushManager.getSubscription();
    const isOurs = known && encoded(known.options.applicationServerKey) === public_key;
    if (known && !isOurs) await known.unsubscribe();
    const subscription = isOurs
      ? known
      : await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: public_key });
    const { endpoint, keys } = subscription.toJSON();
    const { p256dh = "", auth = "" } = keys ?? {};
    const { id } = await addPushSubscription({
      endpoint: endpoint ?? "",
      keys: { p256dh, auth },
      language: language(),
    });
    remember(id);
    return true;
  } catch {
    return false;
  }
}

/** Ends it. */
export async function unsubscribe(): Promise<void> {
  const id = remembered();
  remember(null);
  if (id !== null) await removePushSubscription(id).catch(() => {});
  if (!isPossible()) return;
  const worker = await navigator.serviceWorker.getRegistration(withBase("/"));
  // Without one of its own, the page is in the scope of a server above it on the same host.
  if (worker?.scope !== urlOf("/")) return;
  await (await worker.pushManager.getSubscription())?.unsubscribe();
}

/** Shows a notification of the open page; a click on it opens the chat. */
export async function notify(title: string, body: string, chat: string): Promise<void> {
  try {
    // Phones allow only those of a worker.
    const worker = await registration();
    if (!worker.active) await navigator.serviceWorker.ready;
    await worker.showNotification(title, {
      body,
      icon: withBase("/icon-192.png"),
      tag: chat,
      data: { chat },
    });
    return;
  } catch {
    // There is no worker without HTTPS, or the file cannot be loaded now.
  }
  const notification = new Notification(title, { body, tag: chat });
  notification.onclick = () => {
    window.focus();
    router.go(addressOf(chat));
    notification.close();
  };
}

/** Goes to the chat of a notification that is clicked. */
export function followClicks(): void {
  if (!("serviceWorker" in navigator)) return;
  navigator.serviceWorker.onmessage = ({ data }: MessageEvent<unknown>) => {
    const chat = (data as { open?: unknown } | null)?.open;
    if (typeof chat === "string") router.go(addressOf(chat));
  };
}

/** In base64url. */
function encoded(key: ArrayBuffer | null): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(key ?? [])));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
