/** Which chats a folder takes when something is dragged over it. */
import { expect, test, vi } from "vitest";
import type { ChatRow } from "../api/types.ts";
import { chatDrag, FolderTarget } from "./chat-drag.svelte.ts";
import { chatOrganization } from "./chat-organization.svelte.ts";

const place = document.createElement("li");
const target = new FolderTarget(() => "folder_1");
target.attach(place);

function fire(name: string): boolean {
  const event = new Event(name, { cancelable: true });
  place.dispatchEvent(event);
  return event.defaultPrevented;
}

test("takes a chat of the list, but neither its own nor what comes from elsewhere", () => {
  const change = vi.spyOn(chatOrganization, "change").mockResolvedValue();
  const check = (chat: Partial<ChatRow> | null, isTaken: boolean) => {
    change.mockClear();
    chatDrag.chat = chat as ChatRow | null;
    expect(fire("dragover")).toBe(isTaken);
    expect(target.isOver).toBe(isTaken);
    expect(fire("drop")).toBe(isTaken);
    expect(target.isOver).toBe(false);
    expect(change.mock.calls).toEqual(isTaken ? [[["chat_1"], { folder: "folder_1" }]] : []);
    chatDrag.end();
  };
  check({ id: "chat_1", folder: null }, true);
  check({ id: "chat_1", folder: "folder_2" }, true);
  check({ id: "chat_1", folder: "folder_1" }, false);
  check(null, false);
});
