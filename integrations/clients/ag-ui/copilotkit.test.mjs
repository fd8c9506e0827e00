/** `@copilotkit/core` without a runtime in Node, against the real program. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { startWithModel } from "../node/glasshouse.mjs";
import { CASES, PAINT } from "./scripts.mjs";

// The package connects only where it sees a browser.
globalThis.window ??= globalThis;
const { CopilotKitCore } = await import("@copilotkit/core");

let glasshouse;
before(async () => {
  glasshouse = await startWithModel(CASES);
});
after(() => glasshouse?.stop());

/** A page that has connected. */
async function page(threadId, tools = []) {
  const core = new CopilotKitCore({
    runtimeUrl: `${glasshouse.url}/copilotkit`,
    headers: { Authorization: `Bearer ${glasshouse.key}` },
    tools,
  });
  while (core.runtimeConnectionStatus === "connecting") await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(core.runtimeConnectionStatus, "connected");
  const agent = core.getAgent("scripted");
  agent.threadId = threadId;
  return { core, agent };
}

const say = (agent, id, content) => agent.addMessage({ id, role: "user", content });
const told = (agent) => agent.messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content);

test("finds the agents", async () => {
  const { core } = await page("t0");
  assert.deepEqual(Object.keys(core.agents).sort(), ["default", "scripted", "tour"]);
});

test("runs, and shows the thread again on another page", async () => {
  const first = await page("t1");
  say(first.agent, "u1", "Use tools");
  await first.core.runAgent({ agent: first.agent });
  assert.deepEqual(told(first.agent), ["I look.", "Done."]);
  const second = await page("t1");
  await second.core.connectAgent({ agent: second.agent });
  const ids = (agent) => agent.messages.map((m) => m.id);
  assert.deepEqual(ids(second.agent), ids(first.agent));
  assert.deepEqual(second.agent.state, first.agent.state);
  // Connecting again changes nothing.
  await first.core.connectAgent({ agent: first.agent });
  assert.deepEqual(ids(first.agent), ids(second.agent));
});

test("runs a tool of the page and goes on by itself", async () => {
  const painted = [];
  const handler = async ({ colour }) => void painted.push(colour);
  const { core, agent } = await page("t2", []);
  core.addTool({ ...PAINT, parameters: undefined, handler });
  say(agent, "u1", "Paint it");
  await core.runAgent({ agent });
  assert.deepEqual(painted, ["red"]);
  assert.deepEqual(told(agent), ["I paint.", "It is red."]);
});

test("an interrupt is found again after a reload, and answered", async () => {
  const first = await page("t3");
  say(first.agent, "u1", "Ask me");
  await first.core.runAgent({ agent: first.agent });
  assert.equal(first.agent.pendingInterrupts.length, 1);
  const second = await page("t3");
  await second.core.connectAgent({ agent: second.agent });
  assert.equal(second.agent.pendingInterrupts.length, 1);
  const [{ id }] = second.agent.pendingInterrupts;
  const resume = [{ interruptId: id, status: "resolved", payload: { answer: "a" } }];
  await second.core.runAgent({ agent: second.agent, resume });
  assert.deepEqual(told(second.agent), ["Thank you."]);
});

test("a closed page does not stop the run; stop does", async () => {
  const first = await page("t4");
  say(first.agent, "u1", "Go slowly");
  const running = first.core.runAgent({ agent: first.agent });
  while (told(first.agent).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const second = await page("t4");
  const connected = second.core.connectAgent({ agent: second.agent });
  while (told(second.agent).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  second.core.stopAgent({ agent: second.agent });
  await Promise.all([running, connected]);
  assert.match(told(second.agent)[0], /^word word/);
  const { chats } = await glasshouse.get("/api/v1/chats");
  assert.ok(chats.every((chat) => chat.state !== "running"));
});
