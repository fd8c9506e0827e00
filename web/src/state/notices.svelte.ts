/** Notifies the user of runs in other chats, and marks chats as read. */
import { untrack } from "svelte";
import { readChat } from "../api/calls.ts";
import type { Activity } from "../api/activity.ts";
import type { ChatRow } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { chats } from "./chats.svelte.ts";
import { preferences, prefer } from "./preferences.svelte.ts";
import { router } from "./router.svelte.ts";
import { toasts } from "./toasts.svelte.ts";
import { addressOf } from "../push/news.ts";

/** Only for those who want notifications. */
const push = () => import("../push/subscription.ts");

/** Whether the user is currently looking at this chat. */
function isSeen(chat: string): boolean {
  const { route } = router;
  return !document.hidden && route.page === "chat" && route.chat === chat;
}

function wordsFor({ state, outcome, title }: Activity): string {
  const name = title || t("sidebar.untitled");
  if (state === "waiting") return t("notice.waits", { name });
  if (outcome === "failed") return t("notice.failed", { name });
  return t(outcome === "limited" ? "notice.limited" : "notice.done", { name });
}

/** The state at startup and after a reconnect is not news: only changes are. */
function isNews({ state, outcome }: Activity, before: ChatRow | undefined): boolean {
  if (state === "finished") return outcome !== "cancelled";
  return state === "waiting" && chats.loaded && before?.state !== "waiting";
}

function tell(activity: Activity, chat: string): void {
  const words = wordsFor(activity);
  const open = () => router.leaveTo(addressOf(chat));
  if (!document.hidden) {
    const run = () => Promise.resolve(open());
    toasts.add(words, activity.outcome === "failed", { label: t("notice.open"), run }, chat);
  } else if (preferences.notifications && mayNotify()) {
    void push().then(({ notify }) => notify(t("app.name"), words, chat));
  }
}

/** Marks the open chat as read, on this and the user's other devices. */
export function noteSeen(): void {
  const { route } = router;
  if (route.page !== "chat" || !route.chat || !isSeen(route.chat)) return;
  // A run may be waiting before the page of its new chat is open.
  const { chat } = route;
  untrack(() => toasts.closeOf(chat));
  if (chats.rowOf(route.chat)?.unread) void readChat(route.chat).catch(() => {});
}

/** Shows notifications until the returned function is called. */
export function watchNotices(): () => void {
  const unlisten = chats.listen((activity, before) => {
    const { chat } = activity;
    if (chat === null || activity.state === "read" || activity.state === "changed") return;
    if (isSeen(chat)) {
      if (activity.state === "finished") void readChat(chat).catch(() => {});
    } else if (isNews(activity, before)) {
      tell(activity, chat);
    }
  });
  document.addEventListener("visibilitychange", noteSeen);
  if (preferences.notifications && mayNotify()) void subscribe();
  return () => {
    unlisten();
    document.removeEventListener("visibilitychange", noteSeen);
  };
}

const mayNotify = () => "Notification" in window && Notification.permission === "granted";

async function subscribe(): Promise<void> {
  const { followClicks, subscribe } = await push();
  followClicks();
  await subscribe();
}

/** Turns browser notifications on or off; the browser asks for permission. Returns an error message. */
export async function turnNotifications(on: boolean): Promise<string> {
  if (!on) {
    prefer({ notifications: false });
    await (await push()).unsubscribe();
    return "";
  }
  if (!("Notification" in window)) return t("notice.unsupported");
  const allowed = (await Notification.requestPermission()) === "granted";
  prefer({ notifications: allowed });
  if (!allowed) return t("notice.refused");
  await subscribe();
  return "";
}
