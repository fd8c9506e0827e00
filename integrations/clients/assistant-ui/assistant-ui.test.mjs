/** `@assistant-ui/react-ag-ui` rendered by React, unchanged, against the real program. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { JSDOM } from "jsdom";

import { text, turn } from "../../../web/e2e/programs.mjs";
import { CASES, PAINT } from "../ag-ui/scripts.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { openPage } from "../node/page.mjs";

const page = openPage(JSDOM);
const { all, find, press, until } = page;
const { createElement: h } = await import("react");
const { createRoot } = await import("react-dom/client");
const ui = await import("@assistant-ui/react");
const ag = await import("@assistant-ui/react-ag-ui");
const { HttpAgent } = await import("@ag-ui/client");

const SLOW = { contains: "Take your time", turns: [turn(text(`${"word ".repeat(20)}done.`, 20))] };

let glasshouse;
before(async () => {
  glasshouse = await startWithModel([...CASES, SLOW]);
});
after(() => glasshouse?.stop());

/** One message, with all that the package makes of it. */
function Message() {
  const { role, status } = ui.useAuiState((state) => state.message);
  const Text = ({ text }) => h("p", { className: "text" }, text);
  const Reasoning = ({ text }) => h("i", null, text);
  const Fallback = ({ toolName, argsText, result, isError, approval, respondToApproval }) =>
    h(
      "section",
      { "data-tool": toolName, "data-failed": isError },
      h("code", null, argsText),
      h("output", null, typeof result === "string" ? result : JSON.stringify(result)),
      approval?.approved === undefined && approval && h("button", { className: "allow", onClick: () => respondToApproval({ approved: true }) }, "Allow"),
      approval?.approved === undefined && approval && h("button", { className: "deny", onClick: () => respondToApproval({ approved: false, reason: "not now" }) }, "Deny"),
    );
  return h(
    "article",
    { "data-role": role, "data-status": status?.type, "data-reason": status?.reason },
    h(ui.MessagePrimitive.Parts, { components: { Text, Reasoning, tools: { Fallback } } }),
    h(ui.MessagePrimitive.Error, null, h("strong", { role: "alert" }, h(ui.ErrorPrimitive.Message))),
  );
}

/** What is asked of the person outside of tool calls. */
function Questions() {
  const asked = ag.useAgUiInterrupts();
  const submit = ag.useAgUiSubmitInterruptResponses();
  const answer = (payload) => submit(asked.map(({ id }) => ({ interruptId: id, status: "resolved", payload })));
  return asked.map(({ id, message, metadata }) =>
    h("fieldset", { key: id }, h("legend", null, message), metadata?.options?.map((option) =>
      h("button", { key: option, className: `answer-${option}`, onClick: () => answer({ answer: option }) }, option))));
}

const State = () => h("pre", null, JSON.stringify(ag.useAgUiState()));
const painted = [];
const Paint = ui.makeAssistantTool({
  toolName: PAINT.name,
  description: PAINT.description,
  parameters: PAINT.parameters,
  execute: async ({ colour }) => {
    painted.push(colour);
    return { painted: colour };
  },
});

/** Where to write; not before the history is there, which would take its place. */
function Composer() {
  if (ui.useAuiState((state) => state.thread.isLoading)) return null;
  return h(
    ui.ComposerPrimitive.Root,
    null,
    h(ui.ComposerPrimitive.Input),
    h(ui.ComposerPrimitive.Send, { id: "send" }),
    h(ui.ComposerPrimitive.Cancel, { id: "cancel" }),
  );
}

function App({ agent, history, tools }) {
  const runtime = ag.useAgUiRuntime({ agent, adapters: { history }, onError: (error) => errors.push(error.message) });
  return h(
    ui.AssistantRuntimeProvider,
    { runtime },
    tools && h(Paint),
    h(ui.ThreadPrimitive.Root, null, h(ui.ThreadPrimitive.Messages, { components: { Message } })),
    h(Questions),
    h(State),
    h(Composer),
  );
}

const headers = () => ({ Authorization: `Bearer ${glasshouse.key}` });

/** Shows the thread as it is known to Glasshouse. */
const historyOf = (threadId, name) => ({
  async load() {
    const url = `${glasshouse.url}/copilotkit/agent/${name}/connect?subagents=hidden`;
    const past = new HttpAgent({ url, headers: headers(), threadId });
    await past.runAgent();
    const messages = ag.fromAgUiMessages(past.messages);
    // The package itself reads messages only, not what waits for a person.
    if (past.pendingInterrupts.length > 0) {
      const custom = { agui: { interrupts: past.pendingInterrupts } };
      const status = { type: "requires-action", reason: "interrupt" };
      messages.push({ ...messages.pop(), status, metadata: { custom } });
    }
    loaded = true;
    return ui.ExportedMessageRepository.fromArray(messages);
  },
  async append() {},
});

let root, loaded;
let errors = [];
/** A new page with this thread. */
async function show(threadId, { name = "scripted", tools = false } = {}) {
  errors = [];
  loaded = false;
  root?.unmount();
  const agent = new HttpAgent({ url: `${glasshouse.url}/ag-ui/${name}?subagents=hidden`, headers: headers(), threadId });
  root = createRoot(find("#app"));
  root.render(h(App, { agent, tools, history: historyOf(threadId, name) }));
  await until(() => loaded && find("textarea"), "the thread");
}
afterEach(() => {
  root?.unmount();
  root = undefined;
});

const texts = () => all("[data-role=assistant] .text").filter((text) => text !== "");
const last = () => [...page.document.querySelectorAll("article")].at(-1)?.dataset;
const ended = () => last()?.role === "assistant" && last().status !== "running";

async function say(words) {
  const messages = page.document.querySelectorAll("article").length;
  page.type("textarea", words);
  await until(() => !find("#send").disabled, "the button");
  press("#send");
  await until(() => page.document.querySelectorAll("article").length > messages, "the message");
}
async function run(words) {
  await say(words);
  await until(ended, "the end of the run");
}

test("text and reasoning, as they are written", async () => {
  await show("aui-1");
  await run("Say hello");
  assert.deepEqual(texts(), ["Hello **there**, ёж 🦔."]);
  assert.deepEqual(all("i"), ["A greeting."]);
  await run("Say hello again");
  assert.equal(texts().length, 2);
  assert.deepEqual(errors, []);
});

test("our tools with arguments and results, and the shared state", async () => {
  await show("aui-2");
  await run("Use tools");
  assert.deepEqual(texts(), ["I look.", "Done."]);
  const shown = page.document.querySelectorAll("[data-tool]");
  assert.deepEqual([...shown].map((tool) => tool.dataset.tool), ["write_todos", "write_file", "read_file", "ls"]);
  assert.equal(JSON.parse(find("[data-tool=write_file] code").textContent).content, "Hello.");
  assert.match(find("[data-tool=read_file] output").textContent, /^Error: There is no file/);
  assert.ok([...shown].every((tool) => tool.querySelector("output").textContent));
  const state = JSON.parse(find("pre").textContent);
  assert.deepEqual(state.todos, [{ content: "Write", status: "completed" }]);
  assert.equal(state.files["/notes/a~b.md"].version, 1);
  // What the package sends of all that is accepted.
  await run("Say hello");
  assert.equal(texts().at(-1), "Hello **there**, ёж 🦔.");
  assert.deepEqual(errors, []);
});

test("a tool of the page runs there, and the agent goes on", async () => {
  await show("aui-3", { tools: true });
  await say("Paint it");
  await until(() => texts().includes("It is red."), "the answer after the tool");
  await until(ended, "the end");
  assert.deepEqual(painted, ["red"]);
  assert.deepEqual(texts(), ["I paint.", "It is red."]);
  assert.equal(find("[data-tool=paint] output").textContent, '{"painted":"red"}');
  assert.deepEqual(errors, []);
});

test("a question is answered, also after a reload", async () => {
  await show("aui-4");
  await run("Ask me");
  assert.equal(last().reason, "interrupt");
  assert.equal(find("legend").textContent, "Which?");
  press(".answer-b");
  await until(() => texts().includes("Thank you."), "the rest");
  assert.equal(find("[data-tool=ask_user] output").textContent, "b");
  assert.equal(find("legend"), null);
  assert.deepEqual(errors, []);
  await run("Ask me once more");
  await show("aui-4");
  assert.equal(find("legend").textContent, "Which?");
  press(".answer-a");
  await until(() => texts().filter((text) => text === "Thank you.").length === 2, "the rest again");
  assert.equal(all("[data-tool=ask_user] output").at(-1), "a");
  assert.deepEqual(errors, []);
});

const choices = [
  ["allow", /October/],
  ["deny", /still a draft/],
];
for (const [choice, expected] of choices) {
  test(`consent: ${choice}`, { timeout: 120_000 }, async () => {
    await show(`aui-5-${choice}`, { name: "tour" });
    await say("Show me around");
    await until(() => find(`.${choice}`), "the approval");
    await until(() => last().reason === "interrupt", "the end of the run");
    assert.equal(find(".allow").closest("section").dataset.tool, "edit_file");
    // The package shows whatever comes as the agent's own words, so the sub-agents' are left out.
    const tasks = page.document.querySelectorAll("[data-tool=task] output");
    assert.equal(tasks.length, 2);
    assert.ok([...tasks].every((task) => task.textContent !== ""));
    assert.equal(find("[data-tool=grep]"), null);
    press(`.${choice}`);
    await until(() => expected.test(texts().join("")) && ended(), "the rest");
    assert.equal(find(".allow"), null);
    assert.deepEqual(errors, []);
    const shown = all("article").join("");
    await show(`aui-5-${choice}`, { name: "tour" });
    assert.equal(all("article").join(""), shown);
  });
}

test("cancelling stops the run", async () => {
  await show("aui-6");
  await say("Go slowly");
  await until(() => texts()[0]?.length > 10 && last().status === "running", "some text, as it is written");
  press("#cancel");
  await until(ended, "the end");
  // The abort that fetch reports reaches this version as an error with a code, and it shows that.
  assert.match(last().reason, /^(cancelled|error)$/);
  assert.match(texts()[0], /^word word/);
  for (let tries = 0; ; tries++) {
    const { chats } = await glasshouse.get("/api/v1/chats?query=Go slowly");
    if (chats.length === 1 && chats[0].state === "idle") break;
    assert.ok(tries < 100, JSON.stringify(chats));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test("an error is shown with what was written", async () => {
  await show("aui-7");
  await run("Break down");
  assert.deepEqual(texts(), ["Half a sent"]);
  assert.equal(last().reason, "error");
  assert.match(all("[role=alert]")[0], /model server/);
  assert.equal(errors.length, 1);
});

test("the thread is shown again on another page, and goes on", async () => {
  await show("aui-8");
  await run("Use tools");
  // The package makes one message of several that follow each other in a run, but not of those it reads again.
  const shown = () => all("article").join("");
  const first = shown();
  await show("aui-8");
  assert.equal(shown(), first);
  await run("Say hello");
  assert.equal(texts().at(-1), "Hello **there**, ёж 🦔.");
  assert.deepEqual(errors, []);
});

test("a page opened in the middle of a run shows the answer when it is there", async () => {
  await show("aui-9");
  await run("Say hello");
  const agent = new HttpAgent({ url: `${glasshouse.url}/ag-ui/scripted`, headers: headers(), threadId: "aui-9" });
  agent.messages = [{ id: "u9", role: "user", content: "Take your time" }];
  const running = agent.runAgent({ forwardedProps: { onDisconnect: "continue" } });
  await until(() => agent.messages.some((message) => message.role === "assistant"), "the beginning");
  await show("aui-9");
  assert.match(texts().at(-1), /^word .* done\.$/);
  await running;
  assert.deepEqual(errors, []);
});
