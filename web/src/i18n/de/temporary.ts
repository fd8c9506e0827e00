/** German texts of temporary chats. */
import type { temporary as en } from "../en/temporary.ts";
import type { Entry } from "../index.svelte.ts";

export const temporary: Record<keyof typeof en, Entry> = {
  "temporary.title": "Temporärer Chat",
  "temporary.note":
    "Dieser Chat wird gelöscht, wenn Sie ihn verlassen. Er erscheint weder in der Liste noch in der Suche, nutzt keine Erinnerungen und erzeugt keine.",
  "temporary.keep": "Chat behalten",
  "temporary.kept": "Chat zur Liste hinzugefügt.",
};
