/** Portuguese texts of temporary chats. */
import type { temporary as en } from "../en/temporary.ts";
import type { Entry } from "../index.svelte.ts";

export const temporary: Record<keyof typeof en, Entry> = {
  "temporary.title": "Chat temporário",
  "temporary.note":
    "Este chat é excluído quando você sai dele. Ele não aparece na lista nem na busca e não usa nem cria memórias.",
  "temporary.keep": "Manter chat",
  "temporary.kept": "Chat adicionado à sua lista.",
};
