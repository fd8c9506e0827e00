/** The `openai` package's Responses, unchanged, against the real program: agents and plain models. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import OpenAI from "openai";

import { calls, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "./glasshouse.mjs";

const AGENT = "glasshouse/agent";
const PLAIN = "scripted";
const weather = {
  type: "function",
  name: "weather",
  description: "Tells the weather.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
};
const slowly = (words) => ({ type: "text", text: words, tokens_per_second: 40 });
const cases = [
  { contains: "think", turns: [turn(reasoning("Hm, well."), text("Done thinking."))] },
  { contains: "as JSON", turns: [turn(text('{"city": "Paris"}'))] },
  { contains: "break off", turns: [{ steps: [text("Once upon"), { type: "error", message: "out of memory" }] }] },
  {
    contains: "weather",
    turns: [turn(calls(["weather", { city: "Paris" }], ["weather", { city: "Rome" }])), turn(text("Sun and rain."))],
  },
  { contains: "for ever", turns: [{ steps: [text("On and"), { type: "silence" }] }] },
  { contains: "a while", turns: [turn(slowly("One word comes after the other until all is said."))] },
  { contains: "list files", turns: [turn(calls(["ls", { path: "/" }])), turn(text("There are none."))] },
  { turns: [turn(text("Hello."))] },
];

let glasshouse, client;
before(async () => {
  glasshouse = await startWithModel(cases);
  client = new OpenAI({ baseURL: `${glasshouse.url}/v1`, apiKey: glasshouse.key, maxRetries: 0 });
});
after(() => glasshouse?.stop());

const all = async (stream) => {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
};

test("an answer at once", async () => {
  for (const name of [AGENT, PLAIN]) {
    const answer = await client.responses.create({ model: name, input: "Hi", metadata: { a: "b" } });
    assert.deepEqual([answer.output_text, answer.status, answer.model], ["Hello.", "completed", name]);
    assert.deepEqual(answer.metadata, { a: "b" });
  }
});

test("a stream, with reasoning", async () => {
  const events = await all(await client.responses.create({ model: PLAIN, input: "think", stream: true }));
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, at) => at),
  );
  const words = events.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta);
  assert.equal(words.join(""), "Done thinking.");
  const { output } = events.at(-1).response;
  assert.deepEqual([output[0].type, output[0].summary[0].text], ["reasoning", "Hm, well."]);
});

test("the work of an agent shows as the server's own", async () => {
  const stream = client.responses.stream({ model: AGENT, input: "list files" });
  let words = "";
  stream.on("response.output_text.delta", ({ delta }) => (words += delta));
  const final = await stream.finalResponse();
  assert.deepEqual([words, final.output_text], ["There are none.", "There are none."]);
  assert.deepEqual(
    final.output.map(({ type }) => type),
    ["mcp_call", "message"],
  );
});

test("a conversation goes on, by id and sent whole", async () => {
  const first = await client.responses.create({ model: AGENT, input: "list files" });
  const second = await client.responses.create({ model: AGENT, input: "Thanks", previous_response_id: first.id });
  assert.equal(second.output_text, "Hello.");
  const items = await all(client.responses.inputItems.list(second.id));
  assert.deepEqual(
    items.map(({ content }) => content[0].text),
    ["Thanks"],
  );
  const input = [{ role: "user", content: "list files" }, ...first.output, { role: "user", content: "Thanks" }];
  assert.equal((await client.responses.create({ model: AGENT, input, store: false })).output_text, "Hello.");
});

test("in the background: asked for, stopped, deleted", async () => {
  const begun = await client.responses.create({ model: AGENT, input: "for ever", background: true });
  assert.equal(begun.status, "in_progress");
  assert.equal((await client.responses.retrieve(begun.id)).status, "in_progress");
  assert.equal((await client.responses.cancel(begun.id)).status, "cancelled");
  await client.responses.delete(begun.id);
  await assert.rejects(client.responses.retrieve(begun.id), OpenAI.NotFoundError);
});

test("a stream goes on where it was cut", async () => {
  const seen = [];
  for await (const event of await client.responses.create({
    model: AGENT,
    input: "a while",
    background: true,
    stream: true,
  })) {
    seen.push(event);
    if (event.type === "response.output_text.delta") break;
  }
  const { id } = seen[0].response;
  const starting_after = seen.at(-1).sequence_number;
  const rest = await all(await client.responses.retrieve(id, { stream: true, starting_after }));
  assert.equal(rest[0].sequence_number, starting_after + 1);
  const words = [...seen, ...rest].filter(({ type }) => type === "response.output_text.delta");
  assert.equal(words.map(({ delta }) => delta).join(""), "One word comes after the other until all is said.");
  assert.deepEqual(await all(await client.responses.retrieve(id, { stream: true, starting_after })), rest);
});

test("leaving a stream stops the run", async () => {
  let id;
  for await (const event of await client.responses.create({ model: AGENT, input: "for ever", stream: true })) {
    id ??= event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  const last = (await all(await client.responses.retrieve(id, { stream: true }))).at(-1);
  assert.equal(last.response.status, "cancelled");
});

test("the caller's own tools", async () => {
  for (const name of [AGENT, PLAIN]) {
    const first = await client.responses.create({ model: name, input: "weather", tools: [weather] });
    const asked = first.output.filter(({ type }) => type === "function_call");
    assert.deepEqual(
      asked.map((call) => JSON.parse(call.arguments).city),
      ["Paris", "Rome"],
    );
    const input = asked.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "fine" }));
    const next = { model: name, input, previous_response_id: first.id, tools: [weather] };
    assert.equal((await client.responses.create(next)).output_text, "Sun and rain.");
  }
});

test("structured output", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const format = { type: "json_schema", name: "place", schema, strict: true };
  for (const model of [PLAIN, AGENT]) {
    const answer = await client.responses.parse({ model, input: "as JSON", text: { format } });
    assert.deepEqual(answer.output_parsed, { city: "Paris" });
  }
});

test("errors are typed", async () => {
  const fails = (type, code, param, request) =>
    assert.rejects(client.responses.create({ model: AGENT, input: "Hi", ...request }), (error) => {
      assert.ok(error instanceof type, `${error}`);
      assert.deepEqual([error.code, error.param], [code, param]);
      return true;
    });
  await fails(OpenAI.NotFoundError, "model_not_found", "model", { model: "none-such" });
  await fails(OpenAI.BadRequestError, "invalid_request", "tools[0].type", { tools: [{ type: "file_search" }] });
  await fails(OpenAI.BadRequestError, "invalid_request", "metadata", { metadata: { a: 1 } });
  await fails(OpenAI.NotFoundError, "not_found", "previous_response_id", { previous_response_id: "resp_none" });
  await fails(OpenAI.InternalServerError, "model_failed", null, { input: "break off" });
  const events = await all(await client.responses.create({ model: AGENT, input: "break off", stream: true }));
  assert.equal(events.at(-1).type, "response.failed");
  assert.match(events.at(-1).response.error.message, /out of memory/);
});
