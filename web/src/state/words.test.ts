/** Small text functions: search hits, argument lines, chat groups, routes. */
import { describe, expect, test } from "vitest";
import type { ChatRow } from "../api/types.ts";
import { argumentLine, argumentsText, partialLine } from "./arguments.ts";
import { groupChats } from "./groups.ts";
import { routeOf } from "./router.svelte.ts";
import { splitByHits } from "./search.ts";

describe("search", () => {
  test("marks every hit and keeps the text whole", () => {
    const pieces = splitByHits("CC BY-SA, cc by", " cc ");
    expect(pieces.filter((piece) => piece.hit).map((piece) => piece.text)).toEqual(["CC", "cc"]);
    expect(pieces.map((piece) => piece.text).join("")).toBe("CC BY-SA, cc by");
  });

  test("no words, no marks", () => {
    expect(splitByHits("abc", "  ")).toEqual([{ text: "abc", hit: false }]);
    expect(splitByHits("", "x")).toEqual([{ text: "", hit: false }]);
  });
});

describe("arguments", () => {
  const check = (value: unknown, expected: string) => expect(argumentLine(value)).toBe(expected);

  test("the line shows the argument that says most", () => {
    check({ path: "/", pattern: "star" }, "star");
    check({ content: "long text", path: "/a.md" }, "/a.md");
    check({ todos: [1, 2, 3] }, "todos: 3");
    check({ count: 3, deep: true }, "count: 3, deep: true");
    check("not json", "not json");
    check({}, "");
    check(null, "");
  });

  test("the line is one line of bounded length", () => {
    check({ command: "a\n  b" }, "a b");
    expect(argumentLine({ text: "x".repeat(999) })).toHaveLength(161);
  });

  test("JSON that is being written shows its first text", () => {
    expect(partialLine('{"path":"/notes/a')).toBe("/notes/a");
    expect(partialLine('{"text":"a \\"b\\"\\nc')).toBe('a "b" c');
    expect(partialLine('{"pa')).toBe("");
  });

  test("in full they are indented, or as they were written", () => {
    expect(argumentsText({ a: 1 }, "")).toBe('{\n  "a": 1\n}');
    expect(argumentsText(undefined, '{"a')).toBe('{"a');
    expect(argumentsText("broken {", "")).toBe("broken {");
  });
});

test("chats stand under running, today, yesterday, earlier", () => {
  const now = new Date(2026, 10, 21, 9);
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime();
  const row = (id: string, updated_at: number, state: ChatRow["state"] = "idle"): ChatRow => ({
    id,
    title: id,
    created_at: 0,
    updated_at,
    state,
    unread: false,
    pinned: false,
    archived: false,
    folder: null,
    tags: [],
  });
  const groups = groupChats(
    [row("a", at(21, 8)), row("b", at(20, 23)), row("c", at(19, 1)), row("d", at(1, 1), "waiting")],
    now,
  );
  expect(groups.map(({ name, chats }) => [name, chats.map(({ id }) => id)])).toEqual([
    ["running", ["d"]],
    ["today", ["a"]],
    ["yesterday", ["b"]],
    ["earlier", ["c"]],
  ]);
});

describe("routes", () => {
  const route = (path: string) => routeOf(new URL(path, "http://page"));

  test("addresses name pages", () => {
    const chat = { page: "chat", chat: null, replay: null, message: null, call: null, words: "" };
    expect(route("/")).toEqual(chat);
    expect(route("/c/chat_1")).toEqual({ ...chat, chat: "chat_1" });
    expect(route("/c/chat_1?replay=msg_2")).toEqual({ ...chat, chat: "chat_1", replay: "msg_2" });
    expect(route("/c/chat_1?message=msg_3&call=a.c1&q=max+retries")).toEqual({
      ...chat,
      chat: "chat_1",
      message: "msg_3",
      call: "a.c1",
      words: "max retries",
    });
    expect(route("/settings/keys")).toEqual({ page: "settings", section: "keys" });
    expect(route("/setup?token=abc")).toEqual({ page: "setup", token: "abc", problem: null });
    expect(route("/login?problem=denied&next=/c/1")).toEqual({
      page: "login",
      next: "/c/1",
      problem: "denied",
      step: "password",
    });
    expect(route("/login?step=code&next=/c/1")).toMatchObject({ next: "/c/1", step: "code" });
    expect(route("/a/b/c")).toEqual({ page: "missing" });
  });

  test.each(["//evil.example", "https://evil.example", "/\\evil.example", ""])(
    "after login %j leads home",
    (next) => {
      expect(route(`/login?next=${encodeURIComponent(next)}`)).toMatchObject({ page: "login", next: "/" });
    },
  );
});
