/** Unsent text per chat, kept while the browser tab lives. */

const keyOf = (chat: string | null) => `glasshouse.draft.${chat ?? "new"}`;

export function readDraft(chat: string | null): string {
  try {
    return sessionStorage.getItem(keyOf(chat)) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(chat: string | null, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(keyOf(chat));
    else sessionStorage.setItem(keyOf(chat), text);
  } catch {
    // No storage: the draft lives only in the field.
  }
}
