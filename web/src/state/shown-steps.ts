/** Groups steps into rows, and hides those that only allowed an action or are shown elsewhere. */
import type { FileNode, HookNode, NodeId, TimelineNode } from "./nodes.ts";
import { isPictureMade } from "./files.svelte.ts";

export interface ShownStep {
  /** The first of its steps. */
  id: NodeId;
  /** All of its steps, in order, with hidden ones after them. */
  ids: NodeId[];
  /** Consecutive hooks that allowed the action. */
  allowed: HookNode[];
  /** Consecutive changes of files. */
  files: FileNode[];
}

/** Directory of images, audio and similar tool results, which are shown in the row of their call. */
const results = "/results/";

/** `isHidden` decides on notices. */
export function shownSteps(
  nodes: ReadonlyMap<NodeId, TimelineNode>,
  ids: readonly NodeId[],
  isHidden: (node: TimelineNode) => boolean = () => false,
): ShownStep[] {
  const steps: ShownStep[] = [];
  for (const id of ids) {
    const node = nodes.get(id);
    const before = steps.at(-1);
    if (node !== undefined && (isShownElsewhere(nodes, id, node) || isHidden(node))) {
      before?.ids.push(id);
      continue;
    }
    const allowed = node?.kind === "hook" && node.state === "allowed" ? [node] : [];
    const files = node?.kind === "file" && !isPictureMade(node) ? [node] : [];
    const joins =
      (allowed.length > 0 && (before?.allowed.length ?? 0) > 0) ||
      (files.length > 0 && (before?.files.length ?? 0) > 0);
    if (joins && before !== undefined) {
      before.ids.push(id);
      before.allowed.push(...allowed);
      before.files.push(...files);
    } else {
      steps.push({ id, ids: [id], allowed, files });
    }
  }
  return steps;
}

/** Updates of the plan are shown as the plan, unless they failed; changed memories in the row of their call. */
function isShownElsewhere(nodes: ReadonlyMap<NodeId, TimelineNode>, id: NodeId, node: TimelineNode): boolean {
  if (node.kind === "memory") return nodes.has(id.replace(/^memory /, "tool "));
  if (node.kind === "file") return (node.inCall ?? false) && node.path.startsWith(results);
  return node.kind === "tool" && node.name === "write_todos" && node.state !== "failed";
}
