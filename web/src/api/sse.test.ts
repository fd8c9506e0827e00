/** The SSE decoder with streams split at awkward positions. */
import { expect, test } from "vitest";
import { problemIn, SseDecoder, type SseFrame } from "./sse.ts";

function decode(stream: string, pieceLength: number): SseFrame[] {
  const bytes = new TextEncoder().encode(stream);
  const decoder = new SseDecoder();
  const frames: SseFrame[] = [];
  for (let at = 0; at < bytes.length; at += pieceLength) {
    frames.push(...decoder.push(bytes.slice(at, at + pieceLength)));
  }
  return frames;
}

const expected = [
  { event: null, id: "1", data: '{"text":"Привет 🔭"}' },
  { event: "message", id: "2", data: "two\nlines" },
  { event: null, id: null, data: "[DONE]" },
];

test.each(["\n", "\r\n", "\r"])("line ends %j, cut anywhere", (end) => {
  const lines = [
    ": keep-alive",
    "",
    "id: 1",
    'data: {"text":"Привет 🔭"}',
    "",
    "id:2",
    "event: message",
    "data: two",
    "data: lines",
    "",
    "data: [DONE]",
    "",
    "",
  ];
  const stream = lines.join(end);
  for (let length = 1; length <= stream.length; length += 1) {
    // A lone CR at the very end may still become CRLF; the next byte decides.
    expect(decode(stream + (end === "\r" ? ":" : ""), length)).toEqual(expected);
  }
});

test("a frame without an end is no frame", () => {
  expect(decode("id: 1\ndata: half", 3)).toEqual([]);
});

test("a stream that cannot go on says why", () => {
  const body = JSON.stringify({
    error: { code: "internal", message: "The log is damaged.", sentence: { code: "damaged_log" } },
  });
  const problem = problemIn(decode(`id: 1\ndata: {}\n\nevent: problem\ndata: ${body}\n\n`, 7));
  expect(problem?.message).toBe("The log is damaged.");
  expect(problem?.sentence?.code).toBe("damaged_log");
  expect(problemIn(expected)).toBeNull();
});
