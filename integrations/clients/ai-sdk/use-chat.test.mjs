/** `useChat` of the AI SDK, rendered by React, against the real Glasshouse. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { JSDOM } from "jsdom";
import { DefaultChatTransport } from "ai";
import { calls, pause, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { openPage } from "../node/page.mjs";

const page = openPage(JSDOM);
const { all, find, press, until } = page;
const { createElement: h, StrictMode } = await import("react");
const { createRoot } = await import("react-dom/client");
const { useChat } = await import("@ai-sdk/react");

const CASES = [
  {
    contains: "Work",
    turns: [
      turn(reasoning("First a file."), text("I begin."), calls(["write_file", { path: "/a.txt", content: "north" }])),
      turn(calls(["read_file", { path: "/nowhere.txt" }])),
      turn(text("All of it is done.")),
    ],
  },
  { contains: "Count", turns: [turn(text("word ".repeat(40), 20))] },
  { contains: "Wait", turns: [turn(text("word ".repeat(20), 50), pause(60_000), text("late"))] },
];

let server;
before(async () => {
  server = await startWithModel(CASES);
});
after(() => server?.stop());

const headers = () => ({ Authorization: `Bearer ${server.key}` });
const api = () => `${server.url}/api/ui-message-stream`;

function Part({ part }) {
  if (part.type === "text") return h("p", { className: "text" }, part.text);
  if (part.type === "reasoning") return h("i", null, part.text);
  if (part.type !== "dynamic-tool") return null;
  const said = part.output ?? part.errorText;
  return h("section", { "data-tool": part.toolName, "data-state": part.state }, JSON.stringify(part.input), h("output", null, said));
}

let asked = [];
/** Notes what is answered when a page asks whether an answer is being written. */
async function noting(url, options) {
  const answer = await fetch(url, options);
  if (options.method === "GET") asked.push(answer.status);
  return answer;
}

function App({ id, said }) {
  const transport = new DefaultChatTransport({ api: api(), headers: headers(), body: { model: "scripted" }, fetch: noting });
  const { messages, status, error, sendMessage, stop } = useChat({ id, transport, messages: said, resume: true });
  const end = async () => {
    await fetch(`${api()}/${id}/stop`, { method: "POST", headers: headers() });
    await stop();
  };
  return h(
    "main",
    { "data-status": status },
    messages.map((message) =>
      h("article", { key: message.id, "data-role": message.role }, message.parts.map((part, at) => h(Part, { key: at, part }))),
    ),
    error && h("strong", { role: "alert" }, error.message),
    ...["Work", "Count", "Wait"].map((words) =>
      h("button", { key: words, id: words, onClick: () => sendMessage({ text: words }) }, words),
    ),
    h("button", { id: "stop", onClick: end }, "Stop"),
  );
}

let root;
/** A new page; in strict mode, as a page under development is. */
async function show(id, said = []) {
  root?.unmount();
  asked = [];
  root = createRoot(find("#app"));
  root.render(h(StrictMode, null, h(App, { id, said })));
  // Strict mode takes the first effects back, and with them a message that was sent between.
  await until(() => asked.length > 0, "the question whether there is something to resume");
}
afterEach(() => {
  root?.unmount();
  root = undefined;
});

const status = () => find("main").dataset.status;
const answer = () => all("[data-role=assistant] .text").join("");
const said = (words) => [{ id: "u1", role: "user", parts: [{ type: "text", text: words }] }];

test("text, reasoning and tools are drawn as they come", async () => {
  await show("use-chat-1");
  await until(() => status() === "ready", "the page");
  press("#Work");
  await until(() => answer().endsWith("done.") && status() === "ready", "the answer");
  assert.deepEqual(all("[data-role=user] .text"), ["Work"]);
  assert.equal(answer(), "I begin.All of it is done.");
  assert.deepEqual(all("i"), ["First a file."]);
  const tools = [...page.document.querySelectorAll("[data-tool]")].map(({ dataset }) => [dataset.tool, dataset.state]);
  assert.deepEqual(tools, [["write_file", "output-available"], ["read_file", "output-error"]]);
  assert.match(find("[data-tool=write_file]").textContent, /"north"/);
  assert.match(find("[data-tool=read_file] output").textContent, /nowhere/);
  assert.equal(find("[role=alert]"), null);
});

test("a page that is drawn anew in the middle of a run shows all of it", async () => {
  await show("use-chat-2");
  await until(() => status() === "ready", "the page");
  press("#Count");
  await until(() => answer().length > 20, "some text");
  await show("use-chat-2", said("Count"));
  await until(() => answer().length > 20 && status() === "streaming", "the same text");
  await until(() => status() === "ready", "the end");
  assert.equal(answer(), "word ".repeat(40));
  assert.equal(all("[data-role=assistant]").length, 1);
  assert.equal(find("[role=alert]"), null);
});

test("stopping ends the run, and nothing is left to come back to", async () => {
  await show("use-chat-3");
  await until(() => status() === "ready", "the page");
  press("#Wait");
  await until(() => answer().length > 20, "some text");
  press("#stop");
  await until(() => status() === "ready", "the end");
  assert.match(answer(), /^word word/);
  await show("use-chat-3", said("Wait"));
  await until(() => status() === "ready", "the page");
  assert.equal((await fetch(`${api()}/use-chat-3/stream`, { headers: headers() })).status, 204);
  assert.equal(find("[role=alert]"), null);
});
