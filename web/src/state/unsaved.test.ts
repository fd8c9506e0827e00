// Leaving unsent work requires confirmation.

import { beforeEach, expect, test, vi } from "vitest";
import { unsaved } from "./unsaved.svelte.ts";

beforeEach(() => {
  unsaved.answer(false);
  document.body.innerHTML =
    "<form id=a><input><button></button></form><form id=b data-draft><input><button></button></form>" +
    "<dialog><form id=c><input><button></button></form></dialog>" +
    "<form id=d><select></select><input type=search><button></button></form><form id=e><input></form>";
});

function typeInto(form: string): void {
  const target = document.querySelector(`#${form} input`);
  unsaved.typed({ target } as unknown as Event);
}

test("a filled-in form is asked about, once it is sent no more", () => {
  const proceed = vi.fn();
  typeInto("a");
  unsaved.leave(proceed);
  expect(proceed).not.toHaveBeenCalled();
  unsaved.answer(false);
  expect(unsaved.hasForm).toBe(true);
  unsaved.sent({ target: document.querySelector("#a") } as unknown as Event);
  unsaved.leave(proceed);
  expect(proceed).toHaveBeenCalledOnce();
});

test("who says so loses it", () => {
  const proceed = vi.fn();
  typeInto("a");
  unsaved.leave(proceed);
  unsaved.answer(true);
  expect(proceed).toHaveBeenCalledOnce();
  expect(unsaved.hasForm).toBe(false);
});

test("drafts that are kept, dialogs, searches and what is applied at once are left out", () => {
  for (const form of ["b", "c", "d", "e"]) typeInto(form);
  unsaved.typed({ target: document.querySelector("#d select") } as unknown as Event);
  expect(unsaved.hasForm).toBe(false);
});

test("a form that is gone is forgotten", () => {
  typeInto("a");
  document.querySelector("#a")?.remove();
  expect(unsaved.hasForm).toBe(false);
});

test("the browser is kept from closing while something is held", () => {
  const event = () => new Event("beforeunload", { cancelable: true }) as BeforeUnloadEvent;
  const free = event();
  unsaved.unload(free);
  expect(free.defaultPrevented).toBe(false);
  const end = unsaved.hold(() => true);
  const held = event();
  unsaved.unload(held);
  expect(held.defaultPrevented).toBe(true);
  end();
});
