/** Which steps share a row, and which have none. */
import { expect, test } from "vitest";
import type { FileNode, HookNode, NodeId, TimelineNode } from "./nodes.ts";
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
  return shownSteps(nodes, ids).map((step) => [step.ids.join(" "), step.allowed.length]);
}

test("hooks that only allowed share a row until something else comes", () => {
  const list = [hook("allowed"), hook("allowed"), hook("context"), hook("allowed"), hook("denied")];
  expect(rows(list)).toEqual([
    ["n0 n1", 2],
    ["n2", 0],
    ["n3", 1],
    ["n4", 0],
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
    ["n0 n2", 2],
    ["n3", 0],
    ["n4", 0],
  ]);
});
