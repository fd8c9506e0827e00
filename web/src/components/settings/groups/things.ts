/** Resources that can be restricted to groups: labels, order and rules. */
import type { Group, Permission, Permissions, ThingKind } from "../../../api/groups.ts";
import { en } from "../../../i18n/en/dictionary.ts";
import { formatList } from "../../../i18n/format.ts";
import { t, type Key } from "../../../i18n/index.svelte.ts";

/** Wildcard for all resources of a kind without their own rule. */
export const rest = "*";
const ofServer = "__*";

/** Label of a resource; falls back to its name, because a newer server may have unknown permissions. */
export function labelOf(kind: ThingKind, name: string): string {
  if (name === rest) return t(`groups.rest.${kind}`);
  const key = `groups.right.${name}`;
  if (kind === "right") return Object.hasOwn(en, key) ? t(key as Key) : name;
  if (kind === "tool" && name.endsWith(ofServer)) {
    return t("groups.toolsOf", { name: name.slice(0, -ofServer.length) });
  }
  return name;
}

/** All resources of a kind, the wildcard first: the existing ones, and missing ones that have a rule. */
export function thingsOf(all: Permissions, kind: ThingKind): string[] {
  const ruled = all.permissions.filter((rule) => rule.kind === kind).map(({ name }) => name);
  const names = new Set([...all.things[kind], ...ruled]);
  names.delete(rest);
  return [rest, ...[...names].sort((a, b) => a.localeCompare(b))];
}

export type Audience = "rest" | "everybody" | "groups" | "administrators";

/**
 * The audience as shown in the form. A resource without its own rule follows the wildcard, which defaults to everyone.
 */
export function audienceOf(rule: Permission | undefined, name: string): Audience {
  if ((rule?.groups.length ?? 0) > 0) return "groups";
  if (rule?.everybody === false) return "administrators";
  return rule?.everybody === true || name === rest ? "everybody" : "rest";
}

/** The rule for the chosen audience. */
export function ruleOf(kind: ThingKind, name: string, audience: Audience, groups: string[]): Permission {
  const everybody = {
    rest: null,
    everybody: name === rest ? null : true,
    groups: false,
    administrators: false,
  }[audience];
  return { kind, name, everybody, groups: audience === "groups" ? groups : [] };
}

/** The audience in words: the names of the groups of the stored rule, and what the default is. */
export function audienceWords(
  all: Permissions,
  groups: Group[],
  kind: ThingKind,
  name: string,
  audience: Audience,
): string {
  if (audience !== "rest") return t(`groups.for.${audience}`);
  return t("groups.for.default", { audience: storedWords(all, groups, kind, broader(all, kind, name)) });
}

/** The stored audience of a resource in words. */
export function storedWords(all: Permissions, groups: Group[], kind: ThingKind, name: string): string {
  const rule = all.permissions.find((rule) => rule.kind === kind && rule.name === name);
  const audience = audienceOf(rule, name);
  if (audience !== "groups") return audienceWords(all, groups, kind, name, audience);
  return formatList(groups.filter(({ id }) => rule?.groups.includes(id)).map(({ name }) => name));
}

/** The name of the next more general rule: that of a tool's server if there is one, else the wildcard. */
function broader(all: Permissions, kind: ThingKind, name: string): string {
  const end = kind === "tool" ? name.indexOf("__") : -1;
  const server = end < 0 ? name : name.slice(0, end) + ofServer;
  const isRuled = all.permissions.some((rule) => rule.kind === kind && rule.name === server);
  return server !== name && isRuled ? server : rest;
}
