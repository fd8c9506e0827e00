/** Formats entries of the audit log. */
import { en } from "../../i18n/en/dictionary.ts";
import { t, type Key } from "../../i18n/index.svelte.ts";

/** Filter categories: prefixes of action names. */
export const areas = [
  "session",
  "user",
  "password",
  "second_factor",
  "passkey",
  "key",
  "invitation",
  "group",
  "permission",
  "limits",
  "model",
  "pipeline",
  "embedding",
  "connection",
  "mcp_server",
  "web_search",
  "agent",
  "chat",
  "collection",
  "settings",
  "audit",
] as const;

/** Label of the action; falls back to its name, because a newer server may log unknown actions. */
export function titleOf(action: string): string {
  const key = `audit.${action}`;
  return Object.hasOwn(en, key) ? t(key as Key) : action;
}

/** The changes in one line: `role: admin · suspended: true`. */
export function detailsOf(details: Record<string, unknown>): string {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${text(value)}`)
    .join(" · ");
}
