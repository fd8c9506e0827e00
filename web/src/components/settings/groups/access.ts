/** The effect of a permission rule: who would lose or get access to which resources. Administrators may use everything. */
import type { Permission, Permissions, ThingKind } from "../../../api/groups.ts";
import type { Account } from "../../../api/types.ts";
import { rest } from "./things.ts";

/** People whose access changes, and the resources of which at least one of them is affected. */
export interface Affected {
  people: Account[];
  things: string[];
}

export interface AccessChange {
  lost: Affected;
  gained: Affected;
}

const ofServer = "__*";
const afterServer = "__";

/** The names of the rules for a resource, the most specific first. */
function ruleNames(kind: ThingKind, name: string): string[] {
  const end = kind === "tool" ? name.indexOf(afterServer) : -1;
  return end < 0 ? [name, rest] : [name, name.slice(0, end) + ofServer, rest];
}

/** Whether a member of these groups may use a resource: the same decision as the server's. */
export function allows(rules: Map<string, Permission>, kind: ThingKind, name: string, groups: string[]) {
  for (const ruleName of ruleNames(kind, name)) {
    const rule = rules.get(ruleName);
    if (rule?.groups.some((group) => groups.includes(group))) return true;
    if (rule && rule.everybody !== null) return rule.everybody;
  }
  return true;
}

/** The rules of a kind by name, with `rule` in place of the stored one. */
function rulesOf(all: Permissions, kind: ThingKind, rule?: Permission): Map<string, Permission> {
  const rules = all.permissions.filter((other) => other.kind === kind);
  return new Map([...rules, ...(rule ? [rule] : [])].map((rule) => [rule.name, rule]));
}

/** Compares access now with access under `rule`. Suspended accounts have none either way. */
export function accessChange(all: Permissions, rule: Permission, accounts: Account[]): AccessChange {
  const { kind, name } = rule;
  const [before, after] = [rulesOf(all, kind), rulesOf(all, kind, rule)];
  const known = new Set([...all.things[kind], ...(name === rest ? [] : [name])]);
  const things = [...known].filter((thing) => ruleNames(kind, thing).includes(name));
  const people = accounts.filter(({ role, suspended_at }) => role !== "admin" && suspended_at === null);
  const change = { lost: collect(), gained: collect() };
  for (const person of people) {
    for (const thing of things) {
      const [had, has] = [before, after].map((rules) => allows(rules, kind, thing, person.groups));
      if (had === has) continue;
      const { people, things } = had ? change.lost : change.gained;
      people.add(person);
      things.add(thing);
    }
  }
  return { lost: listed(change.lost), gained: listed(change.gained) };
}

const collect = () => ({ people: new Set<Account>(), things: new Set<string>() });
const listed = ({ people, things }: ReturnType<typeof collect>): Affected => ({
  people: [...people],
  things: [...things],
});
