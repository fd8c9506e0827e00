/** Formats entries of the audit log. */
import type { AuditEntry } from "../../api/audit.ts";
import type { SettingValue } from "../../api/configuration.ts";
import { en } from "../../i18n/en/dictionary.ts";
import { formatList } from "../../i18n/format.ts";
import { t, type Key } from "../../i18n/index.svelte.ts";
import { labelOf, valueOf } from "./audit-words.ts";
import { formatValue, titleOf as titleOfSetting } from "./configuration/setting.ts";

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
  "source",
  "settings",
  "audit",
] as const;

/** Label of the action; falls back to its name, because a newer server may log unknown actions. */
export function titleOf(action: string): string {
  const key = `audit.${action}`;
  return Object.hasOwn(en, key) ? t(key as Key) : action;
}

type Details = Record<string, unknown>;

/** A detail in words; `before` is `null` if the log does not say it. */
export interface Detail {
  name: string;
  before: string | null;
  after: string;
}

/** The details that are values of the subject, by area; all others say how something was done. */
const states: Partial<Record<string, readonly string[]>> = {
  user: ["role", "name", "email", "suspended"],
  group: ["provider_name"],
  permission: ["everybody", "groups"],
  limits: ["limits"],
  model: ["settings"],
  connection: ["name", "kind", "base_url", "settings", "trusted", "weight", "enabled", "together"],
  collection: ["open", "groups", "people"],
  chat: ["open"],
  settings: ["mode", "aliases"],
};
/** Areas whose entries have all values: an absent one is not set. */
const whole: readonly string[] = ["permission", "limits"];

const areaOf = (action: string) => action.split(".", 1)[0] ?? "";

/**
 * What an entry says of values, and what else is known. `earlier` are the entries before it, newest first: they tell
 * what a value was. Entries must not be missing between them.
 */
export function detailsOf(
  entry: AuditEntry,
  earlier: readonly AuditEntry[] = [],
): { changes: Detail[]; others: Detail[] } {
  if (entry.action === "settings.change") return { changes: changesOfSettings(entry.details), others: [] };
  const changes: Detail[] = [];
  const others: Detail[] = [];
  const ofArea = states[areaOf(entry.action)] ?? [];
  for (const [name, value] of Object.entries(entry.details ?? {})) {
    if (ofArea.includes(name)) changes.push(...changesOf(name, value, lastValue(name, entry, earlier)));
    else others.push(...leaves(name, value, undefined));
  }
  return { changes, others };
}

/** The entry itself has the values before. */
function changesOfSettings(details: Details | null): Detail[] {
  const [before, after] = [valuesOf(details?.before), valuesOf(details?.values)];
  return Object.entries(after).map(([name, value]) => {
    const old = before[name];
    const isKnown = old !== undefined && JSON.stringify(old) !== JSON.stringify(value);
    return {
      name: titleOfSetting(name),
      before: isKnown ? formatValue(name, old) : null,
      after: formatValue(name, value),
    };
  });
}

type Values = Record<string, SettingValue | null>;

function valuesOf(values: unknown): Values {
  if (!isObject(values)) return {};
  const read = (value: unknown) => (typeof value === "string" ? (listOf(value) ?? value) : value);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, read(value)])) as Values;
}

/** The log has lists as JSON. */
function listOf(text: string): unknown[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** `undefined` if no earlier entry has it. */
function lastValue(name: string, entry: AuditEntry, earlier: readonly AuditEntry[]): unknown {
  const area = areaOf(entry.action);
  const isSame = (other: AuditEntry) =>
    other.subject === entry.subject &&
    (entry.subject === null ? other.action === entry.action : areaOf(other.action) === area) &&
    // Limits of each member of a group and of all together have the same subject.
    other.details?.each_person === entry.details?.each_person;
  const has = (other: AuditEntry) => whole.includes(area) || other.details?.[name] !== undefined;
  const last = earlier.find((other) => isSame(other) && has(other));
  return last && (last.details?.[name] ?? null);
}

const isObject = (value: unknown): value is Details =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function changesOf(name: string, value: unknown, before: unknown): Detail[] {
  const changes = leaves(name, value, before);
  if (changes.length > 0 || before !== undefined) return changes;
  return [{ name: labelOf(name), before: null, after: valueOf(name, null) }];
}

/** The values of nested objects, each by itself: those that changed, or all that are set. */
function leaves(name: string, value: unknown, before: unknown, path: readonly string[] = []): Detail[] {
  const here = [...path, name];
  if (isObject(value)) {
    const old = isObject(before) ? before : {};
    return Object.keys({ ...old, ...value }).flatMap((inner) =>
      leaves(inner, value[inner] ?? null, before === undefined ? undefined : (old[inner] ?? null), here),
    );
  }
  const isUnchanged = JSON.stringify(before) === JSON.stringify(value);
  if (path.length > 0 && (isUnchanged || (before === undefined && value === null))) return [];
  const isKnown = before !== undefined && !isUnchanged;
  return [
    { name: nameOf(here), before: isKnown ? valueOf(name, before) : null, after: valueOf(name, value) },
  ];
}

/** Names of groups of values, which say nothing beside the names in them. */
const silent: readonly string[] = ["settings", "limits", "aliases"];

function nameOf(path: readonly string[]): string {
  const shown = path.filter((name) => !silent.includes(name));
  // An alias is a name of its own.
  if (path[0] === "aliases") return shown.join(" ");
  return formatList((shown.length === 0 ? path : shown).map(labelOf));
}
