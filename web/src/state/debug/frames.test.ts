/** Parsing frames of every format, and which are kept after a reconnect. */
import { describe, expect, test } from "vitest";
import type { SseFrame } from "../../api/sse.ts";
import { keptFrames, readFrame, sortOf, type Frame } from "./frames.ts";

const sent = (data: unknown, id: string | null = null): SseFrame => ({
  event: null,
  id,
  data: typeof data === "string" ? data : JSON.stringify(data),
});
const framesOf = (...list: SseFrame[]): Frame[] => list.map((frame, index) => readFrame(frame, index).frame);

describe("a frame tells its type, agent and time", () => {
  const body = { type: "agent_started", name: "Reader" };
  const chunk = (delta: object, rest = {}) => ({ choices: [{ delta, finish_reason: null, ...rest }] });
  test.each<[string, unknown, string, string, string | null]>([
    ["native", { at: 5, body: { type: "status" } }, "status", "", null],
    ["native, sub-agent", { at: 5, agent: ["a1", "a1.2"], body }, "agent_started", "a1.2", "Reader"],
    ["chat", { type: "token", data: { content: "x", agent_depth: 0 } }, "token", "", null],
    [
      "chat, sub-agent",
      { type: "tool_start", data: { name: "ls", agent_id: "a1" } },
      "tool_start",
      "a1",
      null,
    ],
    [
      "chat, new",
      { type: "agent_start", data: { agent_id: "a1", name: "Reader" } },
      "agent_start",
      "a1",
      "Reader",
    ],
    ["OpenAI role", chunk({ role: "assistant", content: "" }), "chunk.role", "", null],
    ["OpenAI text", chunk({ content: "Hi" }), "chunk.content", "", null],
    ["OpenAI end", chunk({}, { finish_reason: "stop" }), "chunk.finish_reason", "", null],
    ["OpenAI usage", { choices: [], usage: { total_tokens: 3 } }, "chunk.usage", "", null],
    ["OpenAI done", "[DONE]", "[DONE]", "", null],
    [
      "AG-UI",
      { type: "SUBAGENT_STARTED", subagentRunId: "r-a1", name: "Reader" },
      "SUBAGENT_STARTED",
      "r-a1",
      "Reader",
    ],
    ["AI SDK", { type: "data-agent", id: "a1", data: { name: "Reader" } }, "data-agent", "a1", "Reader"],
    [
      "AI SDK, call",
      {
        type: "tool-input-available",
        providerMetadata: { glasshouse: { agent: "a1", agentName: "Reader" } },
      },
      "tool-input-available",
      "a1",
      "Reader",
    ],
    [
      "debug",
      { type: "request", data: { agent: "a1", name: "Reader", task: "t" } },
      "request",
      "a1",
      "Reader",
    ],
    ["no JSON", '{"type": "cut', "text", "", null],
    ["a number", "7", "json", "", null],
    ["null", "null", "json", "", null],
    ["null inside", { type: null, body: null, data: null, choices: [null] }, "chunk", "", null],
  ])("%s", (_, data, type, agent, name) => {
    const { frame, agentName } = readFrame(sent(data), 0);
    expect([frame.type, frame.agent, agentName]).toEqual([type, agent, name]);
  });

  test("the time, by either name", () => {
    expect(framesOf(sent({ at: 5 }), sent({ timestamp: 6 }), sent({ at: "x" })).map(({ at }) => at)).toEqual([
      5,
      6,
      null,
    ]);
  });
});

describe("after a cut", () => {
  const had = framesOf(sent("a", "1"), sent("b", "2"), sent("c", "2"));

  test("what comes next is added", () => expect(keptFrames(had, sent("d", "3"))).toBe(3));
  test("what was half there is taken back", () => expect(keptFrames(had, sent("c", "2"))).toBe(2));
  test("the first half of an event not seen before is added", () => {
    expect(keptFrames(had, sent("new", "2"))).toBe(3);
  });
  test("without numbers all begins anew", () => expect(keptFrames(framesOf(sent("a")), sent("a"))).toBe(0));
  test("nothing was there", () => expect(keptFrames([], sent("a", "1"))).toBe(0));
});

test.each([
  ["text_delta", "text"],
  ["TEXT_MESSAGE_CONTENT", "text"],
  ["chunk.content", "text"],
  ["reasoning-delta", "thought"],
  ["tool_started", "tool"],
  ["SUBAGENT_FINISHED", "agent"],
  ["approval_asked", "ask"],
  ["run_finished", "end"],
  ["[DONE]", "end"],
  ["response.completed", "end"],
  ["response.output_text.delta", "text"],
  ["response.mcp_call.completed", "tool"],
  ["RUN_ERROR", "error"],
  ["model_called", "other"],
  ["status", "other"],
])("%s is about %s", (type, sort) => expect(sortOf(type)).toBe(sort));
