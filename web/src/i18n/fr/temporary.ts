/** French texts of temporary chats. */
import type { temporary as en } from "../en/temporary.ts";
import type { Entry } from "../index.svelte.ts";

export const temporary: Record<keyof typeof en, Entry> = {
  "temporary.title": "Chat temporaire",
  "temporary.note":
    "Ce chat est supprimé quand vous le quittez. Il n’apparaît ni dans la liste ni dans les recherches, et n’utilise ni n’ajoute de souvenirs.",
  "temporary.keep": "Conserver",
  "temporary.kept": "Chat ajouté à votre liste.",
};
