/** Moves the focus to the composer where the user would click it next. */

const fields = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

export function isField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches(fields);
}

/** Whether a dialog is open, which makes the page inert. */
export function isModal(): boolean {
  return document.querySelector("dialog[open]") !== null;
}

/** Whether something above the page is open, which keeps the focus. */
export function isCovered(): boolean {
  return document.querySelector("dialog[open], :popover-open") !== null;
}

const composer = () => document.getElementById("composer") as HTMLTextAreaElement | null;

/** Focuses the composer unless a dialog, a menu or another field is in use. On touch screens it would open the keyboard. */
export function offerComposer(): void {
  if (!matchMedia("(pointer: fine)").matches) return;
  if (isCovered() || isField(document.activeElement)) return;
  composer()?.focus({ preventScroll: true });
}

/** Elements that use letters themselves, such as to move to an entry that starts with them. */
const lettered = "audio, video, iframe, [role=menu], [role=listbox], [role=tree], [role=grid]";

function isPrintable(event: KeyboardEvent): boolean {
  // AltGr is reported as Ctrl and Alt on Windows.
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (hasModifier && !event.getModifierState("AltGraph")) return false;
  // The space bar scrolls, or presses a button.
  return [...event.key].length === 1 && event.key !== " ";
}

/**
 * Lets the composer have a key that was pressed outside of any field: called before the browser inserts its character,
 * which goes where the focus is by then.
 */
export function typeInComposer(event: KeyboardEvent): void {
  if (!isPrintable(event) || isCovered()) return;
  if (event.target instanceof Element && event.target.closest(`${fields}, ${lettered}`)) return;
  const area = composer();
  // A hidden or inert field does not take the focus.
  area?.focus({ preventScroll: true });
  // The key must not replace a selection that is no longer visible.
  if (area && document.activeElement === area) area.setSelectionRange(area.selectionEnd, area.selectionEnd);
}
