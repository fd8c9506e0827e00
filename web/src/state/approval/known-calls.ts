/** Calls of a tool, against which a custom rule is shown: waiting ones, and earlier ones of the chat. */
import type { ChatMessage } from "../../api/types.ts";
import type { RunView } from "../run.svelte.ts";

export interface KnownCall {
  id: string;
  state: "this" | "waiting" | "earlier";
  arguments: unknown;
}

/** Logs of at most this many earlier answers are loaded for the list. */
const maxLogs = 20;

interface Chat {
  messages: readonly ChatMessage[];
  viewOf: (run: string) => RunView;
}

/** Loads the logs of the chat's latest answers that called tools. */
export function loadCalls({ messages, viewOf }: Chat): void {
  const withTools = messages.filter(({ run, summary }) => run && summary && summary.tools > 0);
  for (const { run } of withTools.slice(-maxLogs)) if (run) viewOf(run).follow();
}

/** All known calls of the tool but the one of this approval, the waiting ones first, then the latest. */
export function knownCalls({ messages, viewOf }: Chat, tool: string, approval: string): KnownCall[] {
  const waiting: KnownCall[] = [];
  const earlier: KnownCall[] = [];
  for (const { run } of messages) {
    if (!run) continue;
    const { nodes } = viewOf(run);
    const asked = new Set<string>();
    for (const node of nodes.values()) {
      if (node.kind !== "approval" || node.decision !== null) continue;
      asked.add(node.call);
      if (node.name !== tool || `${run} ${node.approval}` === approval) continue;
      waiting.push({ id: `${run} ${node.call}`, state: "waiting", arguments: node.arguments });
    }
    for (const node of nodes.values()) {
      if (node.kind !== "tool" || node.name !== tool || node.arguments === undefined) continue;
      if (asked.has(node.call)) continue;
      earlier.push({ id: `${run} ${node.call}`, state: "earlier", arguments: node.arguments });
    }
  }
  return [...waiting, ...earlier.reverse()];
}
