/** The `@anthropic-ai/sdk` package, unchanged, against the real program: plain models of another format, and agents. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";

import { calls, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "./glasshouse.mjs";

const AGENT = "glasshouse/agent";
const PLAIN = "scripted";
const weather = {
  name: "weather",
  description: "Tells the weather.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const refusal = (status) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ error: { message: `The script refuses with ${status}.`, type: "scripted" } }),
});
const cases = [
  { contains: "think", turns: [turn(reasoning("Hm."), text("Plain words."))] },
  { contains: "refuse 400", turns: [refusal(400)] },
  { contains: "refuse 429", turns: [refusal(429)] },
  { contains: "refuse 500", turns: [refusal(500)] },
  { contains: "break off", turns: [{ steps: [text("Once upon"), { type: "error", message: "out of memory" }] }] },
  {
    contains: "weather",
    turns: [
      turn(text("Let me see."), calls(["weather", { city: "Paris" }], ["weather", { city: "Rome" }])),
      turn(calls(["weather", { city: "Oslo" }])),
      turn(text("Sun and rain.")),
    ],
  },
  { contains: "for ever", turns: [{ steps: [text("On and"), { type: "silence" }] }] },
  { turns: [turn(text("Hello."))] },
];

let glasshouse, client;
before(async () => {
  glasshouse = await startWithModel(cases);
  client = clientWith(glasshouse.key);
});
after(() => glasshouse?.stop());

const clientWith = (apiKey) => new Anthropic({ baseURL: glasshouse.url, apiKey, maxRetries: 0 });
const said = (content) => [{ role: "user", content }];
const ask = (model, content, options) => ({ model, max_tokens: 500, messages: said(content), ...options });

test("answers whole and in pieces, with what was thought", async () => {
  for (const model of [PLAIN, AGENT]) {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const whole = await client.messages.create(ask(model, "think", { max_tokens: 2000, thinking }));
    const stream = client.messages.stream(ask(model, "think", { max_tokens: 2000, thinking }));
    const pieces = [];
    stream.on("text", (piece) => pieces.push(piece));
    const streamed = await stream.finalMessage();
    for (const { content, stop_reason, usage } of [whole, streamed]) {
      assert.deepEqual(content.map((block) => block.thinking ?? block.text), ["Hm.", "Plain words."]);
      assert.deepEqual([stop_reason, usage.input_tokens, usage.output_tokens], ["end_turn", 120, 40]);
    }
    assert.equal(pieces.join(""), "Plain words.");
    assert.match(whole._request_id, /^req_/);
  }
});

test("tools over several turns", async () => {
  for (const model of [PLAIN, AGENT]) {
    const messages = said("weather");
    const ids = new Set();
    let answer;
    for (let turns = 0; turns < 5; turns++) {
      answer = await client.messages.stream({ ...ask(model, ""), messages, tools: [weather] }).finalMessage();
      const wanted = answer.content.filter((block) => block.type === "tool_use");
      if (wanted.length === 0) break;
      assert.equal(answer.stop_reason, "tool_use");
      const results = wanted.map(({ id, input }) => {
        assert.ok(!ids.has(id), `${id} is given twice`);
        ids.add(id);
        return { type: "tool_result", tool_use_id: id, content: `${input.city}: fine`, is_error: false };
      });
      messages.push({ role: "assistant", content: answer.content }, { role: "user", content: results });
    }
    assert.equal(answer.content.at(-1).text, "Sun and rain.");
    const results = glasshouse.sent.at(-1).messages.filter(({ role }) => role === "tool");
    assert.deepEqual(results.map(({ content }) => content), ["Paris: fine", "Rome: fine", "Oslo: fine"]);
  }
});

test("tokens are counted and models listed", async () => {
  const { input_tokens } = await client.messages.countTokens({ model: AGENT, messages: said("Hi") });
  assert.ok(input_tokens > 0);
  const ids = [];
  for await (const model of client.models.list({ limit: 2 })) ids.push(model.id);
  assert.deepEqual(ids, [AGENT, "glasshouse/research", "glasshouse/deep", "tour", PLAIN]);
  assert.equal((await client.models.retrieve(PLAIN)).display_name, PLAIN);
});

test("leaving a stream stops the run", async () => {
  const { data, response } = await client.messages.create(ask(AGENT, "for ever", { stream: true })).withResponse();
  for await (const event of data) {
    if (event.type === "content_block_delta") break;
  }
  const run = `/runs/${response.headers.get("x-run-id")}`;
  const headers = { authorization: `Bearer ${glasshouse.key}` };
  // The run's own stream ends when the run does.
  await (await fetch(`${glasshouse.url}${run}/events`, { headers })).text();
  assert.equal((await glasshouse.get(run)).summary.outcome, "cancelled");
});

test("errors are typed", async () => {
  for (const [model, words, type] of [
    [PLAIN, "refuse 400", Anthropic.BadRequestError],
    [AGENT, "refuse 429", Anthropic.RateLimitError],
    [PLAIN, "refuse 500", Anthropic.InternalServerError],
    ["none-such", "Hi", Anthropic.NotFoundError],
  ]) {
    await assert.rejects(client.messages.create(ask(model, words)), (error) => {
      assert.ok(error instanceof type, `${words}: ${error}`);
      assert.match(error.requestID, /^req_/);
      return true;
    });
  }
  await assert.rejects(clientWith("gh_wrong").messages.create(ask(PLAIN, "Hi")), Anthropic.AuthenticationError);
  for (const model of [PLAIN, AGENT]) {
    await assert.rejects(client.messages.stream(ask(model, "break off")).finalMessage(), /out of memory/);
  }
});
