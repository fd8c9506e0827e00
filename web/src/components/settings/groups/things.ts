/** What can be for some groups only, in words, and in the order it is listed. */
import type { Permission, Permissions, ThingKind } from "../../../api/groups.ts";
import { en } from "../../../i18n/en.ts";
import { t, type Key } from "../../../i18n/index.svelte.ts";

/** Stands for all of a kind that have no rule of their own. */
export const rest = "*";
const ofServer = "__*";

/** What a thing is called: a newer server may have rights that this page has no word for. */
export function labelOf(kind: ThingKind, name: string): string {
  if (name === rest) return t(`groups.rest.${kind}`);
  const key = `groups.right.${name}`;
  if (kind === "right") return Object.hasOwn(en, key) ? t(key as Key) : name;
  if (kind === "tool" && name.endsWith(ofServer)) {
    return t("groups.toolsOf", { name: name.slice(0, -ofServer.length) });
  }
  return name;
}

/** All things of a kind, the rest first: those that there are, and such as have a rule and are not there now. */
export function thingsOf(all: Permissions, kind: ThingKind): string[] {
  const ruled = all.permissions.filter((rule) => rule.kind === kind).map(({ name }) => name);
  const names = new Set([...all.things[kind], ...ruled]);
  names.delete(rest);
  return [rest, ...[...names].sort((a, b) => a.localeCompare(b))];
}

export type Audience = "rest" | "everybody" | "groups" | "administrators";

/** For whom it is, as it is chosen. Without a rule of its own it is as the rest; the rest then is for everybody. */
export function audienceOf(rule: Permission | undefined, name: string): Audience {
  if ((rule?.groups.length ?? 0) > 0) return "groups";
  if (rule?.everybody === false) return "administrators";
  return rule?.everybody === true || name === rest ? "everybody" : "rest";
}

/** The rule that says so. */
export function ruleOf(kind: ThingKind, name: string, audience: Audience, groups: string[]): Permission {
  const everybody = {
    rest: null,
    everybody: name === rest ? null : true,
    groups: false,
    administrators: false,
  }[audience];
  return { kind, name, everybody, groups: audience === "groups" ? groups : [] };
}
