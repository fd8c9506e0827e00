/** Keys pressed outside of fields: shortcuts where they apply, else the start of a message. */
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, test, vi } from "vitest";
import { offerComposer } from "./composer-focus.ts";
import { handleKey, notePointer } from "./keys.ts";
import { layout } from "./layout.svelte.ts";
import { prefer } from "./preferences.svelte.ts";
import { router } from "./router.svelte.ts";

const page = `
  <input id="chat-search" />
  <article data-turn="0" tabindex="-1"><button data-steps-toggle>Steps</button></article>
  <button id="plain">Plain</button>
  <ul role="listbox" tabindex="0"></ul>
  <textarea id="composer"></textarea>`;

const at = <E extends HTMLElement>(selector: string) => {
  const found = document.querySelector<E>(selector);
  if (!found) throw new Error(`no ${selector}`);
  return found;
};
const composer = () => at<HTMLTextAreaElement>("#composer");

beforeEach(() => {
  document.body.innerHTML = page;
  prefer({ singleKeys: true });
  notePointer();
  window.addEventListener("keydown", handleKey);
  return () => window.removeEventListener("keydown", handleKey);
});

test("a letter pressed outside of any field is typed in the composer", async () => {
  const user = userEvent.setup();
  await user.keyboard("Hi ");
  expect(composer()).toHaveFocus();
  expect(composer()).toHaveValue("Hi ");
});

test("a letter does not replace what is selected in the composer", async () => {
  const user = userEvent.setup();
  composer().value = "long thought";
  composer().setSelectionRange(0, 12);
  at("#plain").focus();
  await user.keyboard("!");
  expect(composer()).toHaveValue("long thought!");
});

test.each([
  ["another field", "#chat-search", "a"],
  ["a list with its own keys", "[role=listbox]", "a"],
  ["a button, with the space bar", "#plain", " "],
  ["a button, with a chord", "#plain", "{Control>}c{/Control}"],
])("the focus stays on %s", async (_, selector, keys) => {
  const user = userEvent.setup();
  at(selector).focus();
  await user.keyboard(keys);
  expect(at(selector)).toHaveFocus();
  expect(composer()).toHaveValue("");
});

test("an open dialog keeps its keys, and so does an input method", async () => {
  const user = userEvent.setup();
  at("#plain").focus();
  at("#plain").dispatchEvent(new KeyboardEvent("keydown", { key: "a", isComposing: true, bubbles: true }));
  expect(composer()).not.toHaveFocus();
  document.body.insertAdjacentHTML("beforeend", "<dialog open></dialog>");
  await user.keyboard("a");
  expect(composer()).not.toHaveFocus();
});

test("the slash goes to the composer without being typed, unless single keys are off", async () => {
  const user = userEvent.setup();
  await user.keyboard("/");
  expect(composer()).toHaveFocus();
  expect(composer()).toHaveValue("");
  composer().blur();
  prefer({ singleKeys: false });
  await user.keyboard("/");
  expect(composer()).toHaveValue("/");
});

test("a letter is a turn's shortcut only if the keyboard has led there", async () => {
  const user = userEvent.setup();
  const pressed = vi.fn();
  at("[data-steps-toggle]").addEventListener("click", pressed);
  at("article").focus();
  await user.keyboard("e");
  expect(pressed).not.toHaveBeenCalled();
  expect(composer()).toHaveValue("e");
  composer().value = "";
  at("#chat-search").focus();
  await user.tab();
  expect(at("[data-steps-toggle]")).toHaveFocus();
  await user.keyboard("e");
  expect(pressed).toHaveBeenCalledOnce();
  expect(composer()).toHaveValue("");
});

test.each([
  ["ltr", "previous", "next"],
  ["rtl", "next", "previous"],
])("on a page that is %s, the left bracket goes to the %s version", async (dir, left, right) => {
  const user = userEvent.setup();
  document.documentElement.dir = dir;
  const pressed: (string | undefined)[] = [];
  for (const which of ["previous", "next"]) {
    const button = document.createElement("button");
    button.dataset.branch = which;
    button.onclick = () => pressed.push(button.dataset.branch);
    at("article").append(button);
  }
  await user.keyboard("{Tab}");
  at("article").focus();
  await user.keyboard("[BracketLeft][BracketRight]");
  document.documentElement.removeAttribute("dir");
  expect(pressed).toEqual([left, right]);
});

test("outside of the chat, only the shortcuts of the sidebar work", async () => {
  const user = userEvent.setup();
  router.go("/settings");
  await user.keyboard("a/");
  expect(composer()).not.toHaveFocus();
  const wasOpen = layout.sidebar;
  await user.keyboard("{Control>}b{/Control}");
  expect(layout.sidebar).toBe(!wasOpen);
  const hadPanel = layout.panel;
  await user.keyboard("{Control>}.{/Control}");
  expect(layout.panel).toBe(hadPanel);
  await user.keyboard("{Control>}{Shift>}o{/Shift}{/Control}");
  expect(router.route.page).toBe("chat");
});

function pointer(kind: "fine" | "coarse") {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query.includes(kind) }));
}

test("the composer is offered the focus with a fine pointer only", () => {
  pointer("coarse");
  offerComposer();
  expect(composer()).not.toHaveFocus();
  pointer("fine");
  offerComposer();
  expect(composer()).toHaveFocus();
});

test("the composer takes the focus from no field and no dialog", () => {
  pointer("fine");
  at("#chat-search").focus();
  offerComposer();
  expect(at("#chat-search")).toHaveFocus();
  at("#chat-search").blur();
  document.body.insertAdjacentHTML("beforeend", "<dialog open></dialog>");
  offerComposer();
  expect(composer()).not.toHaveFocus();
});
