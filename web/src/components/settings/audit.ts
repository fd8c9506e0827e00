/** How lines of the audit log are put into words. */
import { en } from "../../i18n/en.ts";
import { t, type Key } from "../../i18n/index.svelte.ts";

/** What can be asked for alone: the beginnings of actions. */
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
  "agent",
  "chat",
  "collection",
  "settings",
  "audit",
] as const;

/** What was done, in words where this page knows them: a newer server may note more. */
export function titleOf(action: string): string {
  const key = `audit.${action}`;
  return Object.hasOwn(en, key) ? t(key as Key) : action;
}

/** What was changed, in one line: `role: admin · suspended: true`. */
export function detailsOf(details: Record<string, unknown>): string {
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.entries(details)
    .map(([name, value]) => `${name}: ${text(value)}`)
    .join(" · ");
}
