/** Changes of a shared chat are noticed, and not lost while the page is busy. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChatRow } from "../api/types.ts";

const listShared = vi.hoisted(() => vi.fn());
vi.mock("../api/calls.ts", () => ({ listShared }));

const { shared } = await import("./shared.svelte.ts");

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", { hidden: false });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const says = (updated_at: number) =>
  listShared.mockResolvedValue({ chats: [{ id: "chat_1", updated_at } as ChatRow] });
const check = () => vi.advanceTimersByTimeAsync(5000);

test("a change is offered until it is taken over, and once then", async () => {
  let isTaken = false;
  const onchange = vi.fn(() => Promise.resolve(isTaken));
  says(1);
  const end = shared.watch("chat_1", onchange);
  await check();
  await check();
  expect(onchange).toHaveBeenCalledTimes(2);
  isTaken = true;
  await check();
  await check();
  expect(onchange).toHaveBeenCalledTimes(3);
  says(2);
  await check();
  await check();
  expect(onchange).toHaveBeenCalledTimes(4);
  listShared.mockRejectedValue(new Error("offline"));
  await check();
  end();
  says(3);
  await check();
  expect(onchange).toHaveBeenCalledTimes(4);
});
