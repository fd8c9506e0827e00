/** Service worker: shows push notifications, and opens their chat. It caches nothing. */
import { addressOf, isNews, wordsOf } from "./news.ts";

/** A page of ours. */
interface Page {
  url: string;
  visibilityState: DocumentVisibilityState;
  focus(): Promise<unknown>;
  postMessage(message: unknown): void;
}

interface WorkerEvent extends Event {
  waitUntil(done: Promise<unknown>): void;
}

/** What is used of a worker's scope: its types and those of a page cannot be loaded together. */
declare const self: {
  clients: {
    matchAll(which: { type: "window"; includeUncontrolled: boolean }): Promise<Page[]>;
    openWindow(address: string): Promise<unknown>;
  };
  registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: (event: WorkerEvent) => void): void;
  addEventListener(
    type: "push",
    listener: (event: WorkerEvent & { data: { text(): string } | null }) => void,
  ): void;
  addEventListener(
    type: "notificationclick",
    listener: (event: WorkerEvent & { notification: Notification }) => void,
  ): void;
};

/** The open pages of this server. Other servers may be below other paths of the host. */
async function windows(): Promise<Page[]> {
  const all = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  return all.filter((page) => page.url.startsWith(self.registration.scope));
}

/** The URL of a path of this server, which is reached at the worker's scope. */
const urlOf = (path: string) => new URL(`.${path}`, self.registration.scope).href;

function jsonOf(text = ""): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function show(news: unknown): Promise<void> {
  if (!isNews(news)) return;
  // A page that people look at shows it itself.
  if ((await windows()).some((page) => page.visibilityState === "visible")) return;
  await self.registration.showNotification("Glasshouse", {
    body: wordsOf(news),
    icon: urlOf("/icon-192.png"),
    // One per chat: a later notification replaces the earlier one.
    tag: news.chat,
    data: { chat: news.chat },
  });
}

async function open(chat: string): Promise<void> {
  const [page] = await windows();
  if (!page) {
    await self.clients.openWindow(urlOf(addressOf(chat)));
    return;
  }
  // The page goes there itself, so that nothing in it is lost.
  page.postMessage({ open: chat });
  await page.focus();
}

self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("push", (event) => {
  event.waitUntil(show(jsonOf(event.data?.text())));
});
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { chat } = event.notification.data as { chat: string };
  event.waitUntil(open(chat));
});
