/** German texts of notifications, also for the push worker. */
import type { notifications as en } from "../en/notifications.ts";

export const notifications: Record<keyof typeof en, string> = {
  "notice.done": "„{name}“ ist fertig.",
  "notice.waits": "„{name}“ wartet auf Sie.",
  "notice.failed": "„{name}“ ist fehlgeschlagen.",
  "notice.limited": "„{name}“ hat ein Limit erreicht.",
  "sidebar.untitled": "Neuer Chat",
};
