/** Calls of administrator hooks as rows of a run. */
import type { HookEvent } from "../api/events.ts";
import type { HookNode } from "./nodes.ts";
import type { BodyOf } from "./timeline.ts";

type HookBody = BodyOf<"hook_started" | "hook_finished">;

export const hookNode = ({ hook, event, tool }: HookBody): HookNode => ({
  kind: "hook",
  hook,
  event,
  tool: tool ?? null,
  state: "running",
  reason: null,
  durationMs: null,
});

/** Result of the call; empty while running. */
export function hookEnd(body: HookBody): Partial<HookNode> {
  if (body.type === "hook_started") return {};
  const { error = null, reason = null, duration_ms: durationMs } = body;
  return { state: stateOf(body), reason: error ?? reason, durationMs };
}

function stateOf(body: BodyOf<"hook_finished">): HookNode["state"] {
  if (body.decision === "withdrawn" || body.decision === "expired") return "stopped";
  if (body.decision === "deny") return "denied";
  if (body.error !== undefined) return "failed";
  if (body.change !== undefined) return "changed";
  return body.context === undefined ? "allowed" : "context";
}

/** Whether the hook did more than allow the action. */
export const isNotable = ({ state }: HookNode) => !["running", "allowed", "stopped"].includes(state);

/** Key of the text that describes when the hook is called. */
export const whenKey = (event: HookEvent) => `hook.${event}` as const;
