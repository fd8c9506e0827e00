/** Which steps share a row, and which have none. */
import { expect, test } from "vitest";
import type { FileNode, HookNode, MemoryNode, NodeId, TimelineNode, ToolNode } from "./nodes.ts";
import { shownSteps } from "./shown-steps.ts";

const hook = (state: HookNode["state"]): HookNode => ({
  kind: "hook",
  hook: "policy",
  event: "before_model",
  tool: null,
  state,
  reason: null,
  durationMs: 1,
});
const file = (path: string, inCall: boolean): FileNode => ({
  kind: "file",
  path,
  version: 1,
  deleted: false,
  lines: null,
  inCall,
});

function rows(list: TimelineNode[]) {
  const ids = list.map((_, at) => `n${at}` as NodeId);
  const nodes = new Map(list.map((node, at) => [`n${at}` as NodeId, node]));
  return shownSteps(nodes, ids).map((step) => [step.ids.join(" "), step.allowed.length, step.files.length]);
}

test("hooks that only allowed share a row until something else comes", () => {
  const list = [hook("allowed"), hook("allowed"), hook("context"), hook("allowed"), hook("denied")];
  expect(rows(list)).toEqual([
    ["n0 n1", 2, 0],
    ["n2", 0, 0],
    ["n3", 1, 0],
    ["n4", 0, 0],
  ]);
});

test("what a tool returned has no row beside that of its call, what a program wrote has one", () => {
  const list = [
    hook("allowed"),
    file("/results/shoot-1.png", true),
    hook("allowed"),
    file("/plot.png", true),
    file("/results/notes.md", false),
  ];
  expect(rows(list)).toEqual([
    ["n0 n1 n2", 2, 0],
    ["n3", 0, 0],
    ["n4", 0, 1],
  ]);
});

test("files that change one after the other share a row, but pictures are shown", () => {
  const list = [file("/a.md", false), file("/b.md", false), file("/c.png", false), file("/d.md", false)];
  expect(rows(list)).toEqual([
    ["n0 n1", 0, 2],
    ["n2", 0, 0],
    ["n3", 0, 1],
  ]);
});

test("the plan has no rows of its own, unless its update failed", () => {
  const call = (name: string, state: ToolNode["state"]) => ({ kind: "tool", name, state }) as ToolNode;
  const list = [call("ls", "done"), call("write_todos", "done"), call("write_todos", "failed")];
  expect(rows(list)).toEqual([
    ["n0 n1", 0, 0],
    ["n2", 0, 0],
  ]);
});

test("a memory that a call changed is shown in the row of the call", () => {
  const memory: MemoryNode = { kind: "memory", name: "Likes", state: "done", deleted: false, lines: null };
  const nodes = new Map<NodeId, TimelineNode>([
    ["tool c1", { kind: "tool", name: "memory_write", state: "done" } as ToolNode],
    ["memory c1", memory],
    ["memory ", memory],
  ]);
  expect(shownSteps(nodes, [...nodes.keys()]).map(({ id }) => id)).toEqual(["tool c1", "memory "]);
});

test("hidden steps stay with the row before them", () => {
  const nodes = new Map<NodeId, TimelineNode>([
    ["a", hook("context")],
    ["b", hook("denied")],
  ]);
  const steps = shownSteps(nodes, ["a", "b"], (node) => node.kind === "hook" && node.state === "denied");
  expect(steps.map(({ ids }) => ids)).toEqual([["a", "b"]]);
});
