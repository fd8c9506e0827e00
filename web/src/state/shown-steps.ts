/** Groups steps into rows, and hides those that only allowed an action or are shown elsewhere. */
import type { HookNode, NodeId, TimelineNode } from "./nodes.ts";

export interface ShownStep {
  /** The first of its steps. */
  id: NodeId;
  /** All of its steps, in order. */
  ids: NodeId[];
  /** Consecutive hooks that allowed the action. */
  allowed: HookNode[];
}

/** Directory of images, audio and similar tool results, which are shown in the row of their call. */
const results = "/results/";

export function shownSteps(nodes: ReadonlyMap<NodeId, TimelineNode>, ids: readonly NodeId[]): ShownStep[] {
  const steps: ShownStep[] = [];
  for (const id of ids) {
    const node = nodes.get(id);
    if (node?.kind === "file" && node.inCall && node.path.startsWith(results)) continue;
    const isAllowed = node?.kind === "hook" && node.state === "allowed";
    const before = steps.at(-1);
    if (isAllowed && before !== undefined && before.allowed.length > 0) {
      before.ids.push(id);
      before.allowed.push(node);
    } else {
      steps.push({ id, ids: [id], allowed: isAllowed ? [node] : [] });
    }
  }
  return steps;
}
