/** Glasshouse as an MCP server, driven by the protocol's own TypeScript client. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

import { calls, pause, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { follow, of } from "./runs.mjs";

const CASES = [
  { contains: "Write a poem", turns: [turn(calls(["write_file", { path: "/poem ё.md", content: "roses" }])), turn(text("It is written."))] },
  { contains: "Add a verse", turns: [turn(calls(["read_file", { path: "/poem ё.md" }])), turn(text("Still roses."))] },
  { contains: "Work for long", turns: [turn(text("I begin."), pause(60_000), text("Done."))] },
  {
    contains: "Plan a trip",
    turns: [
      turn(
        calls([
          "ask_user",
          {
            question: "Where to?",
            fields: [
              { name: "city", label: "City", type: "text", required: true },
              { name: "seats", type: "integer", min: 1, max: 9, default: 2 },
              { name: "bags", type: "choices", options: ["small", "big"] },
            ],
          },
        ]),
      ),
      turn(text("Off we go.")),
    ],
  },
  {
    contains: "Which colour",
    turns: [turn(calls(["ask_user", { question: "Which colour?", options: ["red", "blue"] }])), turn(text("Thank you."))],
  },
];

let glasshouse;
const open = [];

before(async () => {
  glasshouse = await startWithModel(CASES);
});

after(async () => {
  for (const client of open) await client.close();
  await glasshouse?.stop();
});

/** A client of our server; `answer` fills in forms. */
async function connect(answer, key = glasshouse.key) {
  const capabilities = answer ? { elicitation: {} } : {};
  const client = new Client({ name: "tests", version: "1" }, { capabilities });
  if (answer) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answer(params));
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${glasshouse.url}/mcp`), { requestInit }));
  open.push(client);
  return client;
}

const ask = (client, args, options) =>
  client.callTool({ name: "ask", arguments: { model: "scripted", ...args } }, undefined, options);

describe("Glasshouse as an MCP server", () => {
  test("says what it is and has one tool for its agent", async () => {
    const client = await connect();
    assert.equal(client.getServerVersion().name, "glasshouse");
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ["ask", "fetch_page"]);
    assert.deepEqual(tools[0].inputSchema.required, ["message"]);
    await client.ping();
  });

  test("a call is a run that can be watched, and its files are resources", async () => {
    const client = await connect();
    await client.listTools();
    const lines = [];
    const onprogress = ({ progress, message }) => lines.push([progress, message]);
    const result = await ask(client, { message: "Write a poem." }, { onprogress });
    assert.equal(result.content[0].text, "It is written.");
    const { answer, chat, run, outcome, usage, files } = result.structuredContent;
    assert.deepEqual([answer, outcome], ["It is written.", "completed"]);
    assert.deepEqual(usage, { input_tokens: 240, output_tokens: 80 });
    assert.deepEqual(files.map(({ path, size_bytes }) => [path, size_bytes]), [["/poem ё.md", 5]]);
    assert.deepEqual(lines.map(([progress]) => progress), lines.map((_, at) => at + 1));
    assert.ok(lines.some(([, message]) => message === "Runs write_file."), JSON.stringify(lines));

    assert.equal((await glasshouse.get(`/api/v1/chats/${chat}`)).title, "Write a poem.");
    assert.equal(of(await follow(glasshouse, run), "file_changed").length, 1);

    assert.equal(result.content[1].type, "resource_link");
    assert.equal(result.content[1].uri, files[0].uri);
    const { contents } = await client.readResource({ uri: files[0].uri });
    assert.equal(contents[0].text, "roses");
    assert.deepEqual((await client.listResources()).resources.map(({ uri }) => uri), [files[0].uri]);
    assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 1);
    await assert.rejects(client.readResource({ uri: files[0].uri.replace("poem", "song") }), /File not found/);

    const more = await ask(client, { message: "Add a verse.", chat });
    assert.equal(more.content[0].text, "Still roses.");
    assert.equal(more.structuredContent.chat, chat);
    assert.equal((await glasshouse.get(`/api/v1/chats/${chat}`)).messages.length, 4);
  });

  test("a name of the client's own keeps a chat together", async () => {
    const client = await connect();
    const first = await ask(client, { message: "Write a poem.", chat: "my poems" });
    const second = await ask(client, { message: "Add a verse.", chat: "my poems" });
    assert.equal(second.structuredContent.chat, first.structuredContent.chat);
    assert.equal(second.content[0].text, "Still roses.");
  });

  test("a cancelled call stops its run", async () => {
    const client = await connect();
    const leaving = new AbortController();
    let run;
    const onprogress = ({ message }) => {
      run ??= /run_\w+/.exec(message)?.[0];
      leaving.abort("no need");
    };
    await assert.rejects(ask(client, { message: "Work for long." }, { onprogress, signal: leaving.signal }));
    const bodies = await follow(glasshouse, run);
    assert.equal(bodies.at(-1).outcome, "cancelled");
    await client.ping();
  });

  test("a question and an approval are forms of the client", async () => {
    const forms = [];
    const client = await connect(({ message, requestedSchema }) => {
      forms.push([message, Object.keys(requestedSchema.properties)]);
      if (requestedSchema.properties.decision) return { action: "accept", content: { decision: "allow" } };
      return { action: "accept", content: { choice: "blue" } };
    });
    const { structuredContent } = await ask(client, { message: "Which colour do I like?" });
    assert.deepEqual(forms, [["Which colour?", ["choice", "answer"]]]);
    const asked = of(await follow(glasshouse, structuredContent.run), "question_answered");
    assert.equal(asked[0].answer, "blue");

    const tour = await ask(client, { message: "Show me around", model: "tour" });
    assert.match(forms[1][0], /^The agent wants to run edit_file with \{.*\}\. May it\?$/s);
    const answered = of(await follow(glasshouse, tour.structuredContent.run), "approval_answered");
    assert.equal(answered[0].decision, "allow");
  });

  test("a form that is declined is a no, one that is closed leaves it to the inbox", async () => {
    const declining = await connect(() => ({ action: "decline" }));
    const { run } = (await ask(declining, { message: "Show me around", model: "tour" })).structuredContent;
    assert.equal(of(await follow(glasshouse, run), "approval_answered")[0].decision, "deny");

    const closing = await connect(() => ({ action: "cancel" }));
    const waiting = ask(closing, { message: "Which colour is it?" });
    await answerInInbox("red");
    assert.equal((await waiting).content[0].text, "Thank you.");
  });

  test("a form of the agent is the client's form, and comes again where the answer does not fit", async () => {
    const asked = [];
    const answers = [{ city: "Rome", seats: 10 }, { city: "Rome", seats: 3, bags: ["big"] }];
    const client = await connect((params) => {
      asked.push(params);
      return { action: "accept", content: answers.shift() };
    });
    const result = await ask(client, { message: "Plan a trip." });
    assert.equal(result.content[0].text, "Off we go.");
    assert.deepEqual(asked[0].requestedSchema, {
      type: "object",
      properties: {
        city: { type: "string", title: "City", maxLength: 500 },
        seats: { type: "integer", minimum: 1, maximum: 9, default: 2 },
        bags: { type: "array", items: { type: "string", enum: ["small", "big"] } },
      },
      required: ["city"],
    });
    assert.deepEqual(asked.map(({ message }) => message), [
      "Where to?",
      "“seats” must be a whole number, 1 to 9.\n\nWhere to?",
    ]);
    const bodies = await follow(glasshouse, result.structuredContent.run);
    assert.deepEqual(of(bodies, "question_answered")[0].values, { city: "Rome", seats: 3, bags: ["big"] });

    const declining = await connect(() => ({ action: "decline" }));
    const { run } = (await ask(declining, { message: "Plan a trip." })).structuredContent;
    assert.equal(of(await follow(glasshouse, run), "question_answered")[0].declined, true);
  });

  test("without forms it says where a person can answer, and waits", async () => {
    const client = await connect();
    const lines = [];
    const onprogress = ({ message }) => lines.push(message);
    const waiting = ask(client, { message: "Which colour is nice?" }, { onprogress });
    await answerInInbox("red");
    assert.equal((await waiting).content[0].text, "Thank you.");
    assert.ok(lines.some((line) => /answer.*Inbox: Which colour\?/.test(line)), JSON.stringify(lines));
  });

  test("what is answered in the inbox is not asked any more", async () => {
    let withdrawn;
    const gone = new Promise((resolve) => (withdrawn = resolve));
    const capabilities = { elicitation: {} };
    const client = new Client({ name: "tests", version: "1" }, { capabilities });
    let forms = 0;
    client.setRequestHandler(ElicitRequestSchema, async (_, { signal }) => {
      // This client cannot withdraw its first form: it takes the id 0 for none.
      if (forms++ === 0) return { action: "accept", content: { choice: "red" } };
      signal.addEventListener("abort", withdrawn);
      await answerInInbox("red");
      await gone;
      return { action: "cancel" };
    });
    const requestInit = { headers: { authorization: `Bearer ${glasshouse.key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${glasshouse.url}/mcp`), { requestInit }));
    open.push(client);
    await ask(client, { message: "Which colour is cold?" });
    const result = await ask(client, { message: "Which colour is warm?" });
    assert.equal(result.content[0].text, "Thank you.");
    // It may come after the result, as it has another stream.
    await gone;
  });

  test("what goes wrong is said", async () => {
    const client = await connect();
    const told = async (args) => {
      const result = await client.callTool({ name: "ask", arguments: args });
      assert.equal(result.isError, true);
      return result.content[0].text;
    };
    assert.match(await told({}), /missing field `message`/);
    assert.match(await told({ message: " " }), /empty/);
    assert.match(await told({ message: "a", model: "none such" }), /none such/);
    assert.match(await told({ message: "a", chat: "chat_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d" }), /not yours/);
    await assert.rejects(client.callTool({ name: "other" }), /no tool “other”/);
    await assert.rejects(connect(undefined, "gh_wrong"), /401|not valid/);
  });
});

/** Answers the one question that waits. */
async function answerInInbox(answer) {
  for (;;) {
    const [item] = (await glasshouse.get("/api/v1/inbox")).items;
    if (!item) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    await glasshouse.post(`/runs/${item.run}/questions/${item.event.body.question}`, { answer });
    return;
  }
}
