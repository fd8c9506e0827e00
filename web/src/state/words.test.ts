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

test("chats are grouped by day, then by month; running and waiting ones come first", () => {
  const now = new Date(2026, 10, 21, 9);
  const row = (id: string, at: Date, state: ChatRow["state"] = "idle"): ChatRow => ({
    id,
    title: id,
    created_at: 0,
    updated_at: at.getTime(),
    state,
    unread: false,
    pinned: false,
    archived: false,
    folder: null,
    tags: [],
  });
  const groups = groupChats(
    [
      row("today", new Date(2026, 10, 21, 8)),
      row("yesterday", new Date(2026, 10, 20, 23)),
      row("two days ago", new Date(2026, 10, 19, 1)),
      row("seven days ago", new Date(2026, 10, 14)),
      row("eight days ago", new Date(2026, 10, 13, 23, 59)),
      row("thirty days ago", new Date(2026, 9, 22)),
      row("earlier in October", new Date(2026, 9, 21, 23)),
      row("waiting", new Date(2026, 9, 1), "waiting"),
      row("October of another year", new Date(2025, 9, 21)),
    ],
    now,
  );
  expect(groups.map(({ title, chats }) => [title, chats.map(({ id }) => id)])).toEqual([
    ["running", ["waiting"]],
    ["today", ["today"]],
    ["yesterday", ["yesterday"]],
    ["week", ["two days ago", "seven days ago"]],
    ["month", ["eight days ago", "thirty days ago"]],
    [new Date(2026, 9), ["earlier in October"]],
    [new Date(2025, 9), ["October of another year"]],
  ]);
  expect(new Set(groups.map(({ id }) => id)).size).toBe(groups.length);
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
    const settings = { page: "settings", section: "", part: "", query: "" };
    expect(route("/settings")).toEqual(settings);
    expect(route("/settings/keys")).toEqual({ ...settings, section: "keys" });
    expect(route("/settings/account#settings.password")).toEqual({
      ...settings,
      section: "account",
      part: "settings.password",
    });
    expect(route("/settings/configuration?q=limits")).toEqual({
      ...settings,
      section: "configuration",
      query: "limits",
    });
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
