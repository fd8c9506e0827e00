/** Tool calls in words, with their figures. */
import { describe, expect, test } from "vitest";
import {
  changesOfCall,
  figureOfCall,
  linesOfAll,
  readableName,
  wordsOfAgent,
  wordsOfCall,
} from "./call-words.ts";
import type { AgentNode, FileChange, ToolNode } from "./nodes.ts";

const node = (name: string, given: unknown, more: Partial<ToolNode> = {}): ToolNode => ({
  ...{ kind: "tool", call: "c1", name, state: "done", argumentsText: "", arguments: given, progress: null },
  ...{ output: "", result: "", preview: false, truncated: false, file: null, files: [], changes: [] },
  ...{ startedAt: 0, durationMs: 60, agents: [] },
  ...more,
});
const change = (path: string, version: number, lines: [number, number] | null): FileChange => ({
  path,
  version,
  deleted: false,
  lines: lines && { added: lines[0], removed: lines[1] },
});

describe("words", () => {
  const check = (name: string, given: unknown, expected: string, more: Partial<ToolNode> = {}) =>
    expect(wordsOfCall(node(name, given, more)).text).toBe(expected);

  test("say what was done", () => {
    check("edit_file", { path: "/report.md" }, "Edited report.md");
    check("write_file", { path: "/plan.md" }, "Created plan.md", {
      changes: [change("/plan.md", 1, [40, 0])],
    });
    check("write_file", { path: "/plan.md" }, "Edited plan.md", { changes: [change("/plan.md", 2, [1, 1])] });
    check("write_file", { path: "/plan.md" }, "Wrote plan.md");
    check("move_file", { from: "/a.md", to: "/b/c.md" }, "Moved a.md to b/c.md");
    check("web_search", { query: "tide tables" }, "Searched the web: tide tables");
    check("fetch_page", { url: "https://www.example.org/page/" }, "Read example.org/page");
    check("python", { code: "print(1)" }, "Ran Python");
    check("shell", { command: "ls -la\ncat a" }, "Ran a command: ls -la cat a");
    check("write_todos", { todos: [] }, "Updated the plan");
  });

  test("say what is being done, and what was attempted", () => {
    check("edit_file", { path: "/a.md" }, "Editing a.md", { state: "running" });
    check("read_file", { path: "/a.md" }, "Reading a.md", { state: "failed" });
    check("write_file", undefined, "Writing notes.md", {
      state: "writing",
      argumentsText: '{"path": "/notes.md", "content": "A \\"path\\": \\"/other.md\\"',
    });
  });

  test("do without an argument that is missing or of another kind", () => {
    check("web_search", {}, "Searched the web");
    check("ls", { path: "/" }, "Listed files");
    check("read_file", "not json", "Read");
    check("fetch_page", { url: "nothing" }, "Read nothing");
    check("grep", { pattern: ["a"] }, "Searched the files");
  });

  test("another tool's name is made readable, with its most telling argument", () => {
    expect(wordsOfCall(node("tickets__create_ticket", { title: "Tap drips" }))).toEqual({
      text: "Create ticket · tickets",
      detail: "Tap drips",
    });
    expect(readableName("readTextFile")).toBe("Read text file");
    expect(readableName("files__read_text-file")).toBe("Read text file · files");
    expect(readableName("getHTTP")).toBe("Get HTTP");
    expect(readableName("__")).toBe("__");
    expect(readableName("constructor")).toBe("Constructor");
  });
});

test("a sub-agent is asked by its name, and a reader reads", () => {
  const agent = (type: string | null, outcome: AgentNode["outcome"] = null) =>
    ({ kind: "agent", name: "Find the tides", type, outcome }) as AgentNode;
  const task = node("task", {});
  expect(wordsOfAgent(agent("researcher"), task)).toBe("Asked researcher: Find the tides");
  expect(wordsOfAgent(agent("general"), task)).toBe("Asked a sub-agent: Find the tides");
  expect(wordsOfAgent(agent(null), task)).toBe("Asked a sub-agent: Find the tides");
  const reading = node("read_source", { url: "https://a.example" });
  expect(wordsOfAgent(agent("reader"), reading)).toBe("Reading Find the tides");
  expect(wordsOfAgent(agent("reader", "completed"), reading)).toBe("Read Find the tides");
});

describe("figures", () => {
  const hits =
    "Material.\n\n1. A title\nhttps://a.example/\nwords\n\n2. B\nOnly mentioned: https://b.example/\n3. x";

  test("count what was found", () => {
    expect(figureOfCall(node("web_search", {}, { result: hits }))).toBe("2 results");
    expect(figureOfCall(node("grep", {}, { result: "/a.md:1: x\n/b.md:20: y\n… and 3 more lines" }))).toBe(
      "5 matches",
    );
    expect(figureOfCall(node("glob", {}, { result: "/a.md" }))).toBe("1 file");
  });

  test("say how many at least if the result is cut, and nothing if it is unknown", () => {
    expect(figureOfCall(node("web_search", {}, { result: hits, preview: true }))).toBe("2+ results");
    expect(figureOfCall(node("web_search", {}, { result: "Nothing was found." }))).toBe("");
    expect(figureOfCall(node("web_search", {}, { result: hits, state: "failed" }))).toBe("");
    expect(figureOfCall(node("toString", {}, { result: hits }))).toBe("");
  });
});

test("the changes of a call are one for each file, without files that hold its result", () => {
  const changes = [
    change("/a.md", 3, [2, 1]),
    change("/results/shell-1.txt", 1, null),
    change("/b.png", 1, null),
    change("/a.md", 4, [1, 0]),
  ];
  const made = changesOfCall(node("shell", {}, { changes }));
  expect(made).toEqual([
    { path: "/a.md", version: 4, deleted: false, from: 2, lines: { added: 3, removed: 1 } },
    { path: "/b.png", version: 1, deleted: false, from: 0, lines: null },
  ]);
  expect(linesOfAll(made)).toEqual({ added: 3, removed: 1 });
  expect(linesOfAll([])).toBeNull();
});
