/** Copies text to the clipboard, also on pages served over plain HTTP. */
import { t } from "../i18n/index.svelte.ts";
import { announcer } from "./announcer.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

/** Copies `text`, and announces it or shows an error. Returns whether it was copied. */
export async function copy(text: string): Promise<boolean> {
  const isCopied = await writeClipboard(text);
  if (isCopied) announcer.say(t("action.copied"));
  else toasts.add(t("error.copyFailed"), true);
  return isCopied;
}

async function writeClipboard(text: string): Promise<boolean> {
  try {
    // Undefined outside secure contexts; also fails where the page lacks permission.
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

/** The way from before the clipboard API: selects the text in a hidden field and restores focus and selection after. */
function copySelected(text: string): boolean {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  const selection = document.getSelection();
  const range = selection && selection.rangeCount > 0 ? selection.getRangeAt(0) : null;
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "visually-hidden";
  // The rest of the page is inert while a dialog is open.
  (focused?.closest("dialog") ?? document.body).append(field);
  field.focus({ preventScroll: true });
  field.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    field.remove();
    focused?.focus({ preventScroll: true });
    if (range && !isField(focused)) {
      selection?.removeAllRanges();
      selection?.addRange(range);
    }
  }
}

/** The selection inside a field is the field's own. */
function isField(element: HTMLElement | null): boolean {
  return element !== null && /^(INPUT|TEXTAREA)$/.test(element.tagName);
}
