/** Keyboard shortcuts: those of every page with the sidebar, and those of the chat. */
import { openChat } from "./chat.svelte.ts";
import { isCovered, isField, isModal, typeInComposer } from "./composer-focus.ts";
import { isPageRightToLeft } from "./direction.ts";
import { find } from "./find/find.svelte.ts";
import { isInputMethod } from "./input-method.ts";
import { layout } from "./layout.svelte.ts";
import { openNewChat } from "./new-chat.ts";
import { preferences } from "./preferences.svelte.ts";
import { closerOf } from "./open-forms.ts";
import { player } from "./replay/replay.svelte.ts";
import { research } from "./research.svelte.ts";
import { router } from "./router.svelte.ts";
import { stopKey } from "./stop-key.svelte.ts";
import { thread } from "./thread.svelte.ts";

function focusOn(id: string): void {
  document.getElementById(id)?.focus();
}

function press(selector: string, within: ParentNode = document): void {
  within.querySelector<HTMLButtonElement>(selector)?.click();
}

function searchChats(): void {
  layout.sidebar = true;
  requestAnimationFrame(() => focusOn("chat-search"));
}

const newChat = () => openNewChat(() => focusOn("composer"));

/** Shortcuts of every page with Ctrl (or Cmd), active also in text fields. By key code, for any keyboard layout. */
function withControl({ altKey, shiftKey, code }: KeyboardEvent): (() => void) | undefined {
  if (altKey) return undefined;
  if (shiftKey) return code === "KeyO" && !isModal() ? newChat : undefined;
  switch (code) {
    case "KeyK":
      return isModal() ? undefined : searchChats;
    case "KeyB":
      return () => (layout.sidebar = !layout.sidebar);
    case "Slash":
      return () => (layout.keyboardHelp = !layout.keyboardHelp);
    default:
      return undefined;
  }
}

/** Those of the chat. */
function inChatWithControl(event: KeyboardEvent): (() => void) | undefined {
  if (event.altKey) {
    // A key that is held down decides once: the next request has not been read yet. Nor has one under a dialog.
    const decide = (selector: string) => () => {
      if (!event.repeat && !isCovered()) press(selector);
    };
    if (event.code === "Enter") return decide("[data-allow]");
    if (event.code === "Backspace") return decide("[data-deny]");
    return undefined;
  }
  if (event.shiftKey) return event.code === "Period" ? () => press("[data-quote]") : undefined;
  switch (event.code) {
    case "KeyF":
      // Closed dialogs and empty chats leave it to the browser, and so does a second press.
      return !thread.scroller || isCovered() || !find.press() ? undefined : () => undefined;
    case "Period":
      return () => (layout.panel = !layout.panel);
    default:
      return undefined;
  }
}

/** Replay shortcuts. The space bar still activates a focused button. */
function replaying(event: KeyboardEvent): (() => void) | undefined {
  const { replay } = player;
  const on = event.target instanceof HTMLElement ? event.target : null;
  if (!replay || on?.closest("[role=tab]")) return undefined;
  const isButton = on?.closest("button, a");
  switch (event.code) {
    case "Space":
      return isButton ? undefined : () => replay.toggle();
    case "ArrowLeft":
      return () => replay.step(-1);
    case "ArrowRight":
      return () => replay.step(1);
    default:
      return undefined;
  }
}

/** Whether the focus was last moved with the keyboard. */
let isMovedByKeys = false;

function noteMove(event: KeyboardEvent): void {
  isMovedByKeys ||= event.key === "Tab" || (event.altKey && /^Arrow(Up|Down)$/.test(event.key));
}

/** Handler for `pointerdown` on the page. */
export function notePointer(): void {
  isMovedByKeys = false;
}

/** The slash, by any layout; also its key on a Russian one, where a slash needs Shift. */
const isSlash = ({ key, code }: KeyboardEvent) => key === "/" || (code === "Slash" && key === ".");

/** Shortcuts without Ctrl, inactive in text fields. */
function alone(event: KeyboardEvent): (() => void) | undefined {
  const replay = replaying(event);
  if (replay) return replay;
  if (!preferences.singleKeys) return undefined;
  if (isSlash(event)) return () => focusOn("composer");
  // After a click in a turn, letters are the start of a message.
  const turn = isMovedByKeys && !event.shiftKey ? thread.focused() : null;
  if (!turn) return undefined;
  if (event.code === "KeyE") return () => press("[data-steps-toggle]", turn);
  const branch = branchOf(event.code);
  return branch && (() => press(`[data-branch=${branch}]`, turn));
}

/** The version that a bracket goes to: that of the button on its side. */
function branchOf(code: string): "previous" | "next" | undefined {
  if (code !== "BracketLeft" && code !== "BracketRight") return undefined;
  return (code === "BracketLeft") === isPageRightToLeft() ? "next" : "previous";
}

/** Closes the innermost open element. */
function escape({ target }: KeyboardEvent): (() => void) | undefined {
  if (layout.narrow && (layout.sidebar || layout.panel)) return () => layout.closeSheets();
  if (isChat() && find.isOpen && !find.focus) return () => (find.isOpen = false);
  return closerOf(target);
}

/** Leaves the panel, the replay or the field; a run is stopped only by a second press. */
function inChatEscape(event: KeyboardEvent): (() => void) | undefined {
  const on = event.target instanceof HTMLElement ? event.target : null;
  if (layout.panel && on?.closest("[data-panel]")) return () => (layout.panel = false);
  if (player.replay) return () => router.replay(null);
  if (research.mode !== "chat") return () => research.reset();
  const field = isField(on) ? on : null;
  if (!openChat.active) return field ? () => field.blur() : undefined;
  // Key repeat does not count as a second press.
  if (event.repeat) return () => undefined;
  return () => {
    field?.blur();
    stopKey.press();
  };
}

const isChat = () => router.route.page === "chat";

function actionOf(event: KeyboardEvent): (() => void) | undefined {
  if (event.ctrlKey || event.metaKey) return withControl(event);
  // What covers the page is closed by the browser itself.
  return event.key === "Escape" && !event.altKey && !isCovered() ? escape(event) : undefined;
}

function inChatActionOf(event: KeyboardEvent): (() => void) | undefined {
  if (find.hold(event)) return () => undefined;
  if (event.ctrlKey || event.metaKey) return inChatWithControl(event);
  if (event.altKey) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    return step === undefined ? undefined : () => thread.moveFocus(step);
  }
  if (event.key === "Escape") return isCovered() ? undefined : inChatEscape(event);
  return isField(event.target) ? undefined : alone(event);
}

/** Handler for `keydown` on the page. */
export function handleKey(event: KeyboardEvent): void {
  noteMove(event);
  if (event.defaultPrevented || isInputMethod(event)) return;
  const action = actionOf(event) ?? (isChat() ? inChatActionOf(event) : undefined);
  if (action) {
    event.preventDefault();
    action();
  } else if (isChat() && !player.replay) typeInComposer(event);
}
