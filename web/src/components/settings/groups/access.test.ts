/** The preview of a permission rule. */
import { expect, test } from "vitest";
import type { Permission, Permissions } from "../../../api/groups.ts";
import type { Account } from "../../../api/types.ts";
import { accessChange } from "./access.ts";
import { ruleOf } from "./things.ts";

const account = (name: string, groups: string[] = [], more: Partial<Account> = {}) =>
  ({ id: name, name, role: "user", suspended_at: null, groups, ...more }) as Account;
const people = [
  account("ada", [], { role: "admin" }),
  account("bob", ["research"]),
  account("carol"),
  account("dan", ["sales"]),
  account("eve", [], { suspended_at: 1 }),
];
const things = {
  model: ["large", "small", "tiny"],
  agent: [],
  tool: ["crm__*", "read_file"],
  workspace: [],
  right: ["sharing"],
};
const all = (...permissions: Permission[]): Permissions => ({ permissions, things });

function names(change: ReturnType<typeof accessChange>) {
  const of = ({ people, things }: { people: Account[]; things: string[] }) => [
    people.map(({ name }) => name),
    things,
  ];
  return { lost: of(change.lost), gained: of(change.gained) };
}

test("a model for one group is lost by everybody else but administrators and suspended people", () => {
  const rule = ruleOf("model", "large", "groups", ["research"]);
  expect(names(accessChange(all(), rule, people))).toEqual({
    lost: [["carol", "dan"], ["large"]],
    gained: [[], []],
  });
});

test("the rule for all other models leaves those with a rule of their own alone", () => {
  const own = ruleOf("model", "tiny", "everybody", []);
  const rule = ruleOf("model", "*", "groups", ["sales"]);
  expect(names(accessChange(all(own), rule, people)).lost).toEqual([
    ["bob", "carol"],
    ["large", "small"],
  ]);
});

test("a wider rule is a gain, and one change can be both", () => {
  const own = ruleOf("model", "large", "groups", ["research"]);
  const wide = ruleOf("model", "large", "everybody", []);
  expect(names(accessChange(all(own), wide, people)).gained).toEqual([["carol", "dan"], ["large"]]);
  const moved = ruleOf("model", "large", "groups", ["sales"]);
  expect(names(accessChange(all(own), moved, people))).toEqual({
    lost: [["bob"], ["large"]],
    gained: [["dan"], ["large"]],
  });
});

test("without a rule of its own, a resource follows the next more general one", () => {
  const closed = ruleOf("model", "*", "administrators", []);
  const own = ruleOf("model", "large", "everybody", []);
  const rule = ruleOf("model", "large", "rest", []);
  const { lost } = accessChange(all(closed, own), rule, people);
  expect(lost.people.length).toBe(3);
  expect(accessChange(all(own), rule, people).lost.people).toEqual([]);
});

test("tools of a server follow its rule", () => {
  const rule = ruleOf("tool", "crm__*", "administrators", []);
  const ask = ruleOf("tool", "crm__ask", "groups", ["sales"]);
  const server: Permissions = { permissions: [ask], things: { ...things, tool: ["crm__*", "crm__ask"] } };
  expect(names(accessChange(server, rule, people)).lost[1]).toEqual(["crm__*"]);
  expect(accessChange(all(), ruleOf("tool", "*", "administrators", []), people).lost.things).toEqual([
    "crm__*",
    "read_file",
  ]);
});

test("a resource that does not exist now counts by its own rule", () => {
  const rule = ruleOf("model", "gone", "administrators", []);
  expect(accessChange(all(), rule, people).lost.things).toEqual(["gone"]);
});
