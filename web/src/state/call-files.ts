/** Shows changes of files in the row of the tool call that made them. */
import type { ToolFile } from "../api/events.ts";
import { programOf } from "./arguments.ts";
import type { FileChange, NodeId, TimelineNode, ToolNode } from "./nodes.ts";

/** Hides file rows whose file is already shown in the row of the tool call. */
export function showInCall(nodes: Map<NodeId, TimelineNode>, files: readonly ToolFile[]): void {
  if (files.length === 0) return;
  for (const [id, node] of nodes) {
    if (node.kind !== "file") continue;
    if (files.some(({ path, version }) => path === node.path && version === node.version)) {
      nodes.set(id, { ...node, inCall: true });
    }
  }
}

/** Maximum number of latest steps among which the call of a change is searched. */
const maxStepsBack = 100;

/**
 * The running call that changed a file: the one that names its path, else the only program that runs. `steps` are those
 * of the same agent.
 */
export function callOfChange(
  nodes: ReadonlyMap<NodeId, TimelineNode>,
  steps: readonly NodeId[],
  { path }: FileChange,
): NodeId | null {
  const programs: NodeId[] = [];
  for (const id of steps.slice(-maxStepsBack).reverse()) {
    const node = nodes.get(id);
    if (node?.kind !== "tool" || node.state !== "running") continue;
    if (namesPath(node, path)) return id;
    if (programOf(node.arguments) !== null || node.name === "latex") programs.push(id);
  }
  return programs.length === 1 ? (programs[0] ?? null) : null;
}

/** Tools that change the file, or the two files, that they name. */
const changing = new Set(["write_file", "edit_file", "delete_file", "move_file"]);

/** Whether the words for the call name the file that it changes. */
export const namesItsFile = ({ name }: ToolNode) => changing.has(name);

function namesPath(call: ToolNode, path: string): boolean {
  const { arguments: given } = call;
  if (!namesItsFile(call) || typeof given !== "object" || given === null) return false;
  const { path: one, from, to } = given as Record<string, unknown>;
  return [one, from, to].some((named) => typeof named === "string" && absolute(named) === path);
}

const absolute = (path: string) => `/${path.replace(/^(?:\.?\/)+/, "")}`;
