/** Attachments of the message being written, across chats and reloads. */
import { expect, test, vi } from "vitest";
import type { Attached } from "./attached.svelte.ts";

/** The module as a newly loaded page has it. */
async function reloaded() {
  vi.resetModules();
  return (await import("./attached.svelte.ts")).attachments;
}

const pasted: Attached = {
  key: 1,
  name: "Pasted text.txt",
  collection: "at1",
  document: "d1",
  isFile: true,
  sent: 1,
  state: "ready",
  problem: "",
  text: "a long text",
};

const shown = (list: Attached[]) => list.map(({ name, state, text }) => ({ name, state, text }));

test("uploaded files survive a reload with their chat, those on their way do not", async () => {
  const before = await reloaded();
  before.putBack([
    pasted,
    { ...pasted, key: 2, name: "big.pdf", collection: null, document: null, state: "sending" },
  ]);
  before.open("chat1");
  before.putBack([{ ...pasted, key: 3, name: "other.md" }]);

  const after = await reloaded();
  expect(shown(after.list)).toEqual([{ name: "Pasted text.txt", state: "ready", text: "a long text" }]);
  after.open("chat1");
  expect(shown(after.list).map(({ name }) => name)).toEqual(["other.md"]);
  expect(new Set(after.list.map(({ key }) => key)).size).toBe(1);
});

test("what was sent or removed is gone after a reload", async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(null, { status: 204 })));
  const before = await reloaded();
  before.putBack([pasted]);
  before.clear();
  before.open("chat1");
  before.putBack([{ ...pasted, key: 3 }]);
  before.list.slice().forEach((one) => before.remove(one));
  const after = await reloaded();
  expect(after.list).toEqual([]);
  after.open("chat1");
  expect(after.list).toEqual([]);
});

test("a file that was being read is followed again", async () => {
  const document = { id: "d1", state: "ready", problem: null };
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json({ documents: [document] })));
  const before = await reloaded();
  before.putBack([{ ...pasted, state: "reading" }]);
  const after = await reloaded();
  await vi.waitFor(() => expect(after.list.map(({ state }) => state)).toEqual(["ready"]));
});

test.each(["{not json", "{}", "7"])("damaged storage is no attachment: %s", async (stored) => {
  sessionStorage.setItem("glasshouse.text.attached.new", stored);
  expect((await reloaded()).list).toEqual([]);
});
