/** Which steps have a row of their own: what only let things go on, or is shown elsewhere, takes no place. */
import type { HookNode, NodeId, TimelineNode } from "./nodes.ts";

export interface ShownStep {
  /** The first of its steps. */
  id: NodeId;
  /** All of them, in order. */
  ids: NodeId[];
  /** Hooks, one after the other, that allowed what they were asked about. */
  allowed: HookNode[];
}

/** Where tools' pictures, sounds and the like are kept, which stand in the row of their call. */
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
