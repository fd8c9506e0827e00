/** Hides notices that a chat has shown already, such as that an MCP server cannot be reached. */
import type { PageState } from "./context.ts";
import type { TimelineNode } from "./nodes.ts";
import type { RunView } from "./run.svelte.ts";

/** Name of the MCP server that a notice says cannot be reached. */
function serverAway(node: TimelineNode): string | undefined {
  if (node.kind !== "notice" || node.sentence?.code !== "mcp_server_away") return undefined;
  const name = node.sentence.params?.name;
  return typeof name === "string" ? name : undefined;
}

export const isOfServerAway = (node: TimelineNode) => serverAway(node) !== undefined;

/** Whether an earlier run of the chat, as far as its log is loaded, has the same notice. */
export function isRepeatedNotice(node: TimelineNode, view: RunView, chat: PageState["openChat"]): boolean {
  const server = serverAway(node);
  if (server === undefined) return false;
  for (const { run } of chat.path) {
    if (run === view.id) return false;
    if (run && chat.viewOf(run).run.unreachable.includes(server)) return true;
  }
  return false;
}
