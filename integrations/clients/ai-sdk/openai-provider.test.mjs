/** The AI SDK's own OpenAI provider, unchanged, against our Responses: it checks every field of what it reads. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { calls, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";

const CASES = [
  {
    contains: "weather",
    turns: [
      turn(reasoning("Two cities."), text("Let me see."), calls(["ls", { path: "/" }])),
      turn(calls(["weather", { city: "Paris" }])),
      turn(calls(["weather", { city: "Rome" }])),
      turn(text("Sun and rain.")),
    ],
  },
  { contains: "as JSON", turns: [turn(text('{"city": "Paris"}'))] },
  { contains: "Break", turns: [{ steps: [text("Half a sentence"), { type: "error", message: "out of memory" }] }] },
  { turns: [turn(text("Hello."))] },
];

let server, openai;

before(async () => {
  server = await startWithModel(CASES);
  openai = createOpenAI({ baseURL: `${server.url}/v1`, apiKey: server.key });
});

after(() => server?.stop());

const asked = [];
const weather = tool({
  description: "Tells the weather.",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async ({ city }) => {
    asked.push(city);
    return "fine";
  },
});

test("an agent with the caller's tools, streamed, each step going on from the last", async () => {
  // With `store`, the provider names earlier items by their ids; without, it sends its own part of them, so that
  // the script takes a step twice.
  for (const store of [true, false]) {
    asked.length = 0;
    const errors = [];
    const result = streamText({
      model: openai.responses("glasshouse/agent"),
      prompt: "How is the weather?",
      tools: { weather },
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      providerOptions: { openai: { store } },
      onError: ({ error }) => errors.push(error),
    });
    const words = await result.text;
    assert.deepEqual([words, new Set(asked), errors], ["Sun and rain.", new Set(["Paris", "Rome"]), []]);
    if (store) assert.equal(asked.length, 2);
    const steps = await result.steps;
    assert.deepEqual([steps[0].finishReason, steps.at(-1).finishReason], ["tool-calls", "stop"]);
    assert.equal(steps[0].reasoningText, "Two cities.");
    const ours = steps[0].toolCalls.filter((call) => call.providerExecuted);
    assert.equal(ours.length, 1, "our own tools are the provider's");
  }
});

test("a whole answer of a plain model, with a conversation that goes on", async () => {
  const first = await generateText({ model: openai("scripted"), prompt: "Hi", maxRetries: 0 });
  assert.deepEqual([first.text, first.finishReason], ["Hello.", "stop"]);
  const previousResponseId = first.providerMetadata.openai.responseId;
  const second = await generateText({
    model: openai("scripted"),
    prompt: "And now?",
    maxRetries: 0,
    providerOptions: { openai: { previousResponseId } },
  });
  assert.equal(second.text, "Hello.");
});

test("structured output", async () => {
  const schema = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
  const output = Output.object({ schema });
  const answer = await generateText({ model: openai("scripted"), prompt: "as JSON", output, maxRetries: 0 });
  assert.deepEqual(answer.output, { city: "Paris" });
});

test("errors", async () => {
  const failing = (name, prompt) => generateText({ model: openai(name), prompt, maxRetries: 0 });
  await assert.rejects(
    failing("none-such", "Hi"),
    (error) => error.statusCode === 404 && /Model not found/.test(error.message),
  );
  await assert.rejects(failing("glasshouse/agent", "Break"), /out of memory/);
});
