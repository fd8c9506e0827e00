/** The AI SDK, unchanged, against the real Glasshouse: `Chat` (the core of `useChat`) and three versions' readers. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { calls, pause, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";

const CASES = [
  { contains: "Look into it", turns: [turn(text("What the sub-agent says."))] },
  {
    contains: "Work",
    turns: [
      turn(reasoning("First a file."), text("I begin."), calls(["write_file", { path: "/a.txt", content: "north" }])),
      turn(calls(["read_file", { path: "/a.txt" }], ["read_file", { path: "/nowhere.txt" }])),
      turn(calls(["task", { description: "Look into it", subagent_type: "explore" }])),
      turn(text("All of it is done.")),
    ],
  },
  { contains: "Count", turns: [turn(text("word ".repeat(60), 30))] },
  { contains: "Break", turns: [{ steps: [text("Half a sentence"), pause(200), { type: "cut" }] }] },
  { contains: "Again", turns: [turn(text("Second answer."))] },
];

let server;

before(async () => {
  server = await startWithModel(CASES);
});

after(() => server?.stop());

let chats = 0;

/** A chat as a page would have it. */
function newChat({ id = `chat-${++chats}`, name = "scripted", ...options } = {}) {
  const data = [];
  const finished = [];
  const chat = new Chat({
    id,
    transport: new DefaultChatTransport({
      api: `${server.url}/api/ui-message-stream`,
      headers: { Authorization: `Bearer ${server.key}` },
      body: { model: name },
    }),
    onData: (part) => data.push(part),
    onFinish: (end) => finished.push(end),
    ...options,
  });
  return { chat, data, finished };
}

const textOf = (message) =>
  message.parts
    .filter((part) => part.type === "text")
    .map((part) => part.text)
    .join("");
const toolsOf = (message) => message.parts.filter((part) => part.type === "dynamic-tool");
async function until(fits, what) {
  for (let tries = 0; tries < 400; tries++) {
    const found = fits();
    if (found) return found;
    await sleep(25);
  }
  throw new Error(`never came: ${what}`);
}

test("a whole run: reasoning, steps, tools, a failing one, a sub-agent, the answer", async () => {
  const { chat, data, finished } = newChat();
  await chat.sendMessage({ text: "Work" });
  assert.equal(chat.status, "ready", String(chat.error));
  const answer = chat.lastMessage;
  assert.equal(textOf(answer), "I begin.All of it is done.", "what a sub-agent says is not the answer");
  assert.equal(answer.parts.find((part) => part.type === "reasoning").text, "First a file.");
  assert.equal(answer.parts.filter((part) => part.type === "step-start").length, 4);
  const tools = toolsOf(answer);
  assert.deepEqual(
    tools.map((tool) => [tool.toolName, tool.state]),
    [
      ["write_file", "output-available"],
      ["read_file", "output-available"],
      ["read_file", "output-error"],
      ["task", "output-available"],
    ],
  );
  assert.deepEqual(tools[0].input, { path: "/a.txt", content: "north" });
  assert.match(tools[1].output, /north/);
  assert.match(tools[2].errorText, /nowhere/);
  const agent = answer.parts.find((part) => part.type === "data-agent");
  assert.equal(agent.data.state, "completed");
  assert.ok(data.some((part) => part.type === "data-status"), "the status line");
  assert.ok(!answer.parts.some((part) => part.type === "data-status"), "which does not stay");
  assert.match(answer.metadata.run, /^run_/);
  assert.equal(answer.metadata.outcome, "completed");
  assert.equal(finished[0].finishReason, "stop");
  assert.ok(answer.parts.every((part) => part.state !== "streaming"));
});

test("the next message knows the one before, and both stand in the web app", async () => {
  const { chat } = newChat();
  await chat.sendMessage({ text: "Work" });
  await chat.sendMessage({ text: "Again" });
  assert.equal(textOf(chat.lastMessage), "Second answer.");
  assert.equal(chat.messages.length, 4);
  const { chats: rows } = await server.get("/api/v1/chats");
  const shown = await server.get(`/api/v1/chats/${rows[0].id}`);
  assert.deepEqual(
    shown.messages.map((message) => message.role),
    ["user", "assistant", "user", "assistant"],
  );
  await chat.regenerate();
  assert.equal(textOf(chat.lastMessage), "Second answer.");
  assert.equal(chat.messages.length, 4);
});

test("a page that comes back sees the whole answer", async () => {
  const { chat } = newChat();
  const sending = chat.sendMessage({ text: "Count" });
  await until(() => chat.lastMessage?.role === "assistant" && textOf(chat.lastMessage).length > 20, "some text");
  const { chat: other } = newChat({ id: chat.id, messages: [chat.messages[0]] });
  await other.resumeStream();
  await sending;
  assert.equal(textOf(other.lastMessage), "word ".repeat(60));
  assert.equal(other.lastMessage.id, chat.lastMessage.id);
  assert.deepEqual(other.lastMessage.parts, chat.lastMessage.parts);
});

test("leaving does not stop the run, stopping does; idle is 204", async () => {
  const { chat } = newChat();
  const headers = { Authorization: `Bearer ${server.key}` };
  const stream = `${server.url}/api/ui-message-stream/${chat.id}/stream`;
  assert.equal((await fetch(stream, { headers })).status, 204, "unknown chats are idle");
  const sending = chat.sendMessage({ text: "Count" });
  const written = () => chat.lastMessage?.role === "assistant" && textOf(chat.lastMessage).length > 20;
  await until(written, "some text");
  await chat.stop();
  await sending;
  const again = await fetch(stream, { headers });
  assert.equal(again.status, 200);
  assert.equal(again.headers.get("x-vercel-ai-ui-message-stream"), "v1");
  const stop = `${server.url}/api/ui-message-stream/${chat.id}/stop`;
  assert.equal((await fetch(stop, { method: "POST", headers })).status, 204);
  const parts = await again.text();
  assert.match(parts, /"type":"abort"/);
  assert.ok(parts.endsWith("data: [DONE]\n\n"));
  assert.equal((await fetch(stream, { headers })).status, 204);
});

test("consent is given in the client, and the same message goes on", async () => {
  const { chat, finished } = newChat({
    name: "tour",
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.sendMessage({ text: "Show me around" });
  const asked = toolsOf(chat.lastMessage).find((tool) => tool.state === "approval-requested");
  assert.equal(asked.toolName, "edit_file");
  const before = structuredClone(chat.lastMessage);
  await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
  await until(() => finished.length === 2 && chat.status === "ready", "the rest of the answer");
  assert.equal(chat.error, undefined);
  const answer = chat.lastMessage;
  assert.equal(answer.id, before.id);
  assert.equal(chat.messages.length, 2);
  assert.match(textOf(answer), /\| October \|/);
  const edited = toolsOf(answer).filter((tool) => tool.toolCallId === asked.toolCallId);
  assert.deepEqual(edited.map((tool) => tool.state), ["output-available"]);
  assert.equal(answer.parts.filter((part) => part.type === "data-agent").length, 2);
});

test("what is denied is shown as denied", async () => {
  const { chat, finished } = newChat({
    name: "tour",
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  await chat.sendMessage({ text: "Show me around" });
  const asked = toolsOf(chat.lastMessage).find((tool) => tool.state === "approval-requested");
  await chat.addToolApprovalResponse({ id: asked.approval.id, approved: false, reason: "not now" });
  await until(() => finished.length === 2 && chat.status === "ready", "the rest of the answer");
  const edited = toolsOf(chat.lastMessage).find((tool) => tool.toolCallId === asked.toolCallId);
  assert.equal(edited.state, "output-denied");
  assert.match(textOf(chat.lastMessage), /still a draft/);
});

test("an error keeps the text", async () => {
  const { chat } = newChat();
  await chat.sendMessage({ text: "Break" });
  assert.equal(chat.status, "error");
  assert.match(chat.error.message, /model server/);
  assert.equal(textOf(chat.lastMessage), "Half a sentence");
});

test("what is refused says why", async () => {
  const { chat } = newChat({ name: "none-such" });
  await chat.sendMessage({ text: "Work" });
  assert.equal(chat.status, "error");
  assert.match(chat.error.message, /none-such/);
});

for (const [version, name] of [
  [5, "ai-5"],
  [6, "ai-6"],
  [7, "ai"],
]) {
  test(`version ${version} reads every part`, async () => {
    const sdk = await import(name);
    const transport = new sdk.DefaultChatTransport({
      api: `${server.url}/api/ui-message-stream`,
      headers: { Authorization: `Bearer ${server.key}` },
      body: { model: "scripted" },
    });
    const messages = [{ id: "u1", role: "user", parts: [{ type: "text", text: "Work" }] }];
    const stream = await transport.sendMessages({ chatId: `version-${version}`, messages, trigger: "submit-message" });
    let last;
    for await (const message of sdk.readUIMessageStream({ stream, terminateOnError: true })) last = message;
    assert.equal(textOf(last), "I begin.All of it is done.");
    assert.equal(toolsOf(last).length, 4);
  });
}
