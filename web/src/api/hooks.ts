/** The hooks of the configuration. */
import type { HookEvent } from "./events.ts";
import { call } from "./http.ts";

export interface Hook {
  name: string;
  kind: "http" | "command";
  /** An address, or the path of a program. */
  target: string;
  events: HookEvent[];
  tools: string[];
  agents: string[];
  models: string[];
  fail: "open" | "closed";
  timeout_seconds: number;
  calls: number;
  failures: number;
  last: { at: number; error: string | null } | null;
}

export const listHooks = () => call<{ hooks: Hook[] }>("GET", "/api/v1/hooks");
