/** Hides file rows whose file is already shown in the row of the tool call. */
import type { ToolFile } from "../api/events.ts";
import type { NodeId, TimelineNode } from "./nodes.ts";

export function showInCall(nodes: Map<NodeId, TimelineNode>, files: readonly ToolFile[]): void {
  if (files.length === 0) return;
  for (const [id, node] of nodes) {
    if (node.kind !== "file") continue;
    if (files.some(({ path, version }) => path === node.path && version === node.version)) {
      nodes.set(id, { ...node, inCall: true });
    }
  }
}
