/** The `openai` package, unchanged, against the real program: plain models and agents. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import OpenAI from "openai";

import { calls, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "./glasshouse.mjs";

const AGENT = "glasshouse/agent";
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Tells the weather.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};
const json = { "content-type": "application/json" };
const refusal = (status, code) => ({
  status,
  headers: json,
  body: JSON.stringify({ error: { message: `The script refuses with ${status}.`, type: "scripted", code } }),
});
const whole = (content) => ({
  status: 200,
  headers: json,
  body: JSON.stringify({
    id: "chatcmpl-whole",
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
  }),
});
const cases = [
  { contains: "stream plainly", turns: [turn(reasoning("Hm."), text("Plain words."))] },
  { contains: "answer whole", turns: [whole("All at once.")] },
  { contains: "as JSON", turns: [whole('{"city": "Paris"}')] },
  { contains: "refuse 400", turns: [refusal(400, "bad")] },
  { contains: "refuse 422", turns: [refusal(422, "unfit")] },
  { contains: "refuse 429", turns: [refusal(429, "slow")] },
  { contains: "refuse 500", turns: [refusal(500, "down")] },
  { contains: "break off", turns: [{ steps: [text("Once upon"), { type: "error", message: "out of memory" }] }] },
  {
    contains: "weather",
    turns: [turn(calls(["weather", { city: "Paris" }], ["weather", { city: "Rome" }])), turn(text("Sun and rain."))],
  },
  { contains: "what is it", turns: [turn(text("A dot."))] },
  { contains: "for ever", turns: [{ steps: [text("On and"), { type: "silence" }] }] },
  { contains: "list files", turns: [turn(calls(["ls", { path: "/" }])), turn(text("There are none."))] },
  { turns: [turn(text("Hello."))] },
];

let glasshouse, client;
before(async () => {
  glasshouse = await startWithModel(cases);
  client = clientWith(glasshouse.key);
});
after(() => glasshouse?.stop());

const clientWith = (apiKey) => new OpenAI({ baseURL: `${glasshouse.url}/v1`, apiKey, maxRetries: 0 });
const said = (content) => [{ role: "user", content }];
const complete = (model, messages, options) => client.chat.completions.create({ model, messages, ...options });

test("a plain model streams", async () => {
  let words = "";
  let thoughts = "";
  for await (const chunk of await complete("scripted", said("stream plainly"), { stream: true })) {
    words += chunk.choices[0]?.delta.content ?? "";
    thoughts += chunk.choices[0]?.delta.reasoning_content ?? "";
  }
  assert.deepEqual([words, thoughts], ["Plain words.", "Hm."]);
});

test("a plain model answers whole", async () => {
  const answer = await complete("scripted", said("answer whole"));
  assert.equal(answer.choices[0].message.content, "All at once.");
});

test("structured output, of a plain model and of an agent", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } } };
  const response_format = { type: "json_schema", json_schema: { name: "place", strict: true, schema } };
  for (const model of ["scripted", AGENT]) {
    const answer = await client.chat.completions.parse({ model, messages: said("as JSON"), response_format });
    assert.deepEqual(answer.choices[0].message.parsed, { city: "Paris" });
  }
});

test("an agent streams and says what it used", async () => {
  const stream_options = { include_usage: true };
  const stream = client.chat.completions.stream({ model: AGENT, messages: said("list files"), stream_options });
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0].message.content, "There are none.");
  assert.equal(final.choices[0].finish_reason, "stop");
  assert.equal(final.usage.total_tokens, 320);
});

test("an agent shows its work to who asks", async () => {
  const options = { stream: true, stream_options: { include_status: true } };
  const rows = [];
  for await (const chunk of await complete(AGENT, said("list files"), options)) {
    if (chunk.type === "response.output_item.done") rows.push(chunk.item.type);
  }
  assert.deepEqual(rows, ["function_call", "function_call_output"]);
});

test("runTools plays with an agent, parallel calls at once", async () => {
  const asked = [];
  const tool = {
    type: "function",
    function: {
      ...weather.function,
      parse: JSON.parse,
      function: ({ city }) => {
        asked.push(city);
        return "fine";
      },
    },
  };
  for (const stream of [false, true]) {
    asked.length = 0;
    const runner = client.chat.completions.runTools({ model: AGENT, messages: said("weather"), tools: [tool], stream });
    assert.equal(await runner.finalContent(), "Sun and rain.");
    assert.deepEqual(asked, ["Paris", "Rome"]);
  }
});

test("an agent sees pictures", async () => {
  const image_url = { url: "data:image/png;base64,iVBORw0KGgo=" };
  const content = [{ type: "text", text: "what is it" }, { type: "image_url", image_url }];
  const answer = await complete(AGENT, said(content));
  assert.equal(answer.choices[0].message.content, "A dot.");
});

test("leaving a stream stops the run", async () => {
  const { data, response } = await client.chat.completions
    .create({ model: AGENT, messages: said("for ever"), stream: true })
    .withResponse();
  for await (const chunk of data) {
    if (chunk.choices[0]?.delta.content) break;
  }
  const run = `/runs/${response.headers.get("x-run-id")}`;
  // The run's own stream ends when the run does.
  await (await fetch(`${glasshouse.url}${run}/events`, { headers: { authorization: `Bearer ${glasshouse.key}` } })).text();
  assert.equal((await glasshouse.get(run)).summary.outcome, "cancelled");
});

test("a failure in a stream is thrown", async () => {
  for (const name of ["scripted", AGENT]) {
    const read = async () => {
      for await (const chunk of await complete(name, said("break off"), { stream: true })) void chunk;
    };
    await assert.rejects(read, /out of memory/);
  }
});

test("models", async () => {
  const ids = [];
  for await (const one of client.models.list()) ids.push(one.id);
  assert.deepEqual(ids, [AGENT, "glasshouse/research", "glasshouse/deep", "tour", "scripted"]);
  assert.equal((await client.models.retrieve(AGENT)).owned_by, "glasshouse");
});

test("errors are typed", async () => {
  for (const [name, words, type, code] of [
    ["scripted", "refuse 400", OpenAI.BadRequestError, "bad"],
    ["scripted", "refuse 422", OpenAI.UnprocessableEntityError, "unfit"],
    ["scripted", "refuse 429", OpenAI.RateLimitError, "slow"],
    ["scripted", "refuse 500", OpenAI.InternalServerError, "model_failed"],
    ["none-such", "Hi", OpenAI.NotFoundError, "model_not_found"],
    [AGENT, " ", OpenAI.BadRequestError, "invalid_request"],
  ]) {
    await assert.rejects(complete(name, said(words)), (error) => {
      assert.ok(error instanceof type, `${words}: ${error}`);
      assert.equal(error.code, code);
      return true;
    });
  }
  await assert.rejects(complete(AGENT, said("Hi"), { n: 2 }), { status: 400, param: "n" });
  await assert.rejects(clientWith("gh_wrong").models.list(), OpenAI.AuthenticationError);
  await assert.rejects(complete("scripted", said("x".repeat(12_000_000))), { status: 413, code: "too_large" });
});
