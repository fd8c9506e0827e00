/** Filtering and searching frames, all at once and incrementally. */
import { describe, expect, test } from "vitest";
import { everything, flip, hitIn, isPiece, select, shows, type Filter } from "./filter.ts";
import { readFrame, type Frame } from "./frames.ts";

const frameOf = (body: object, index: number, agent: string[] = []): Frame =>
  readFrame({ event: null, id: String(index + 1), data: JSON.stringify({ agent, body }) }, index).frame;
const log = [
  frameOf({ type: "run_started" }, 0),
  frameOf({ type: "text_delta", delta: 'He said "no"\nand left' }, 1),
  frameOf({ type: "tool_started", name: "grep", arguments: { pattern: "ЗВЁЗДЫ" } }, 2, ["a1"]),
  frameOf({ type: "text_finished", text: "done" }, 3),
];
const all: Filter = { types: everything, agents: everything, query: "" };
const numbers = (filter: Partial<Filter>) => select(log, { ...all, ...filter }).frames.map(({ id }) => id);

describe("by type and agent", () => {
  test("all, none, and single ones", () => {
    expect(numbers({})).toEqual(["1", "2", "3", "4"]);
    expect(numbers({ types: flip(everything, "text_delta") })).toEqual(["1", "3", "4"]);
    const none = { base: "none" as const, flipped: new Set<string>() };
    expect(numbers({ types: none })).toEqual([]);
    expect(numbers({ types: flip(none, "run_started") })).toEqual(["1"]);
    expect(numbers({ agents: flip(everything, "") })).toEqual(["3"]);
  });

  test("a type is flipped back", () => {
    expect(flip(flip(everything, "x"), "x")).toEqual(everything);
  });

  test("pieces can be left out, those that are yet to come too", () => {
    const wholes = { base: "wholes" as const, flipped: new Set<string>() };
    expect(numbers({ types: wholes })).toEqual(["1", "3", "4"]);
    expect(shows(wholes, "TOOL_CALL_ARGS")).toBe(false);
    expect(shows(flip(wholes, "text_delta"), "text_delta")).toBe(true);
  });

  test.each([
    "token",
    "text-delta",
    "tool-input-delta",
    "TEXT_MESSAGE_CONTENT",
    "TOOL_CALL_CHUNK",
    "chunk.content",
    "response.output_text.delta",
  ])("%s is a piece", (type) => expect(isPiece(type)).toBe(true));
  test.each(["text_finished", "STATE_SNAPSHOT", "chunk.finish_reason", "tool_call_start"])(
    "%s is none",
    (type) => expect(isPiece(type)).toBe(false),
  );
});

describe("by words", () => {
  test.each([
    ["звёзды", ["3"]],
    ["run_STARTED", ["1"]],
    ['said "no"', ["2"]],
    ['no"\nand', ["2"]],
    ['"name": "grep"', ["3"]],
    ['"name":"grep"', ["3"]],
    ["  ", ["1", "2", "3", "4"]],
    ["nowhere", []],
    [".*", []],
  ])("%j", (query, expected) => expect(numbers({ query })).toEqual(expected));

  test("the place of a hit", () => {
    expect(hitIn('{"a":"B"}', "b")).toBe(6);
    expect(hitIn('{"a":"b"}', '"a": "b')).toBe(1);
    expect(hitIn("{}", "b")).toBe(-1);
  });
});

describe("as frames come", () => {
  const filter = { ...all, types: flip(everything, "text_delta") };
  const one = select(log.slice(0, 2), filter);

  test("only the new ones are looked at", () => {
    const whole = select(log, filter, one);
    expect(whole).toEqual(select(log, filter));
    expect(select(log, filter, whole).frames).toBe(whole.frames);
  });
  test("another filter begins anew", () => {
    expect(select(log, { ...all }, one).frames).toHaveLength(4);
  });
  test("frames that were taken back begin anew", () => {
    const again = log.map((frame) => ({ ...frame }));
    expect(select(again, filter, one)).toEqual(select(again, filter));
  });
  test("none were there", () => {
    expect(select(log, filter, select([], filter)).frames).toHaveLength(3);
  });
});
