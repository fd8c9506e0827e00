/** Frames as one line, expanded, and exported. */
import { describe, expect, test } from "vitest";
import { copyOf, copyOfAll, jsonLines } from "./export.ts";
import { readFrame } from "./frames.ts";
import { foundLine, namesApart, prettyOf, previewOf } from "./preview.ts";

const native = (body: object) => JSON.stringify({ run: "run_1", seq: 7, at: 1, agent: ["a1"], body });

describe("in one line", () => {
  test.each([
    [native({ type: "text_delta", item: "t1", delta: "Hello,\nworld " }), "Hello,⏎world "],
    [native({ type: "run_started", chat: "chat_1", message: "msg_1", model: "m" }), "m"],
    [
      native({
        type: "tool_finished",
        call: "c1",
        name: "ls",
        arguments: { path: "/" },
        result: "a",
        error: false,
        duration_ms: 3,
      }),
      'ls · a · {"path":"/"} · duration_ms 3',
    ],
    [
      native({ type: "model_called", model: "m", usage: { input_tokens: 1, output_tokens: 2 } }),
      "m · input_tokens 1 · output_tokens 2",
    ],
    [native({ type: "step_started", step: 2 }), "step 2"],
    ['{"type":"token","data":{"content":"Hi","agent_depth":0}}', "Hi"],
    [
      '{"id":"x","object":"o","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}',
      "Hi",
    ],
    ['{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', "stop"],
    ['{"choices":[],"usage":{"total_tokens":3}}', "total_tokens 3"],
    ['{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi","timestamp":1}', "Hi"],
    [
      '{"id":"r:1","type":"request","source":"llm","data":{"step":1},"description":"Model call 1"}',
      "step 1 · Model call 1",
    ],
    [
      '{"type":"response.output_text.delta","sequence_number":3,"item_id":"i","output_index":0,"delta":"Hi"}',
      "Hi",
    ],
    [
      '{"type":"response.output_item.added","sequence_number":2,"item":{"id":"x","type":"mcp_call","name":"ls"}}',
      "ls",
    ],
    ["[DONE]", "[DONE]"],
    ['{"type": "cut', '{"type": "cut'],
    ["7", "7"],
    ["null", ""],
    ["[1,null]", "[1,null]"],
  ])("%s", (data, line) => expect(previewOf(data)).toBe(line));

  test("a long one is cut", () => {
    expect(previewOf(native({ type: "text_finished", text: "x".repeat(100_000) })).length).toBeLessThan(200);
  });

  test("what was found is at its front", () => {
    const data = native({ type: "text_finished", item: "t_needle", text: `${"x".repeat(90)} far away` });
    expect(foundLine(data, "far")).toBe(`…${"x".repeat(9)} far away`);
    expect(foundLine(data, "t_needle")).toContain("t_needle");
    expect(foundLine(data, "xxx")).toBe(previewOf(data));
    expect(foundLine(data, "")).toBe(previewOf(data));
  });
});

describe("opened", () => {
  test("JSON is indented, anything else is as it came", () => {
    expect(prettyOf('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(prettyOf("<b>no</b>")).toBe("<b>no</b>");
  });

  test("the names of fields stand apart, and nothing is lost", () => {
    const pretty = prettyOf('{"a \\"b\\"":{"c":"\\"d\\": 1"}}');
    const pieces = namesApart(pretty);
    expect(pieces.map(({ text }) => text).join("")).toBe(pretty);
    expect(pieces.filter(({ isName }) => isName).map(({ text }) => text)).toEqual(['"a \\"b\\""', '"c"']);
  });
});

describe("taken elsewhere", () => {
  const stored = readFrame({ event: null, id: "1", data: '{"seq":1,"n":1.0}' }, 0).frame;
  const done = readFrame({ event: "message", id: "2", data: "[DONE]" }, 1).frame;

  test("stored events are their JSON, untouched", () => {
    expect(copyOf("native", stored)).toBe('{"seq":1,"n":1.0}');
    expect(copyOfAll("native", [stored, stored])).toBe('{"seq":1,"n":1.0}\n{"seq":1,"n":1.0}');
    expect(jsonLines("native", [stored])).toBe('{"seq":1,"n":1.0}\n');
  });

  test("frames are copied as sent", () => {
    expect(copyOfAll("openai", [stored, done])).toBe(
      'id: 1\ndata: {"seq":1,"n":1.0}\n\nevent: message\nid: 2\ndata: [DONE]\n\n',
    );
    expect(copyOf("chat", { ...done, event: null, id: null, data: "a\nb" })).toBe("data: a\ndata: b\n\n");
  });

  test("each line of a file is JSON, whatever was sent", () => {
    expect(jsonLines("openai", [stored, done])).toBe(
      '{"id":"1","data":{"seq":1,"n":1.0}}\n{"event":"message","id":"2","data":"[DONE]"}\n',
    );
  });
});
