// Drops on the page never navigate away.

import { beforeEach, expect, test, vi } from "vitest";
import { pageDrop } from "./page-drop.ts";

const file = new File(["a"], "a.txt");

function dropEvent(target: Element, types: string[], files: File[] = []): DragEvent {
  const event = new Event("drop", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "target", { value: target });
  return Object.assign(event, { dataTransfer: { types, files, dropEffect: "" } }) as unknown as DragEvent;
}

beforeEach(() => {
  document.body.innerHTML = "<main></main><textarea></textarea>";
});
const main = () => document.querySelector("main") as Element;
const field = () => document.querySelector("textarea") as Element;

test("files go where they are taken", () => {
  const take = vi.fn();
  const end = pageDrop.takeFiles(take);
  const event = dropEvent(main(), ["Files"], [file]);
  pageDrop.drop(event);
  expect(event.defaultPrevented).toBe(true);
  expect(take).toHaveBeenCalledWith([file]);
  end();
  const later = dropEvent(main(), ["Files"], [file]);
  pageDrop.drop(later);
  expect(later.defaultPrevented).toBe(true);
  expect(take).toHaveBeenCalledOnce();
});

test("behind a dialog they go nowhere", () => {
  const take = vi.fn();
  const end = pageDrop.takeFiles(take);
  document.body.insertAdjacentHTML("beforeend", "<dialog open></dialog>");
  const event = dropEvent(main(), ["Files"], [file]);
  pageDrop.drop(event);
  expect(event.defaultPrevented).toBe(true);
  expect(take).not.toHaveBeenCalled();
  end();
});

test("a link is not followed, and words go into a field", () => {
  const link = dropEvent(main(), ["text/uri-list"]);
  pageDrop.drop(link);
  expect(link.defaultPrevented).toBe(true);
  const words = dropEvent(field(), ["text/plain"]);
  pageDrop.drop(words);
  expect(words.defaultPrevented).toBe(false);
});
