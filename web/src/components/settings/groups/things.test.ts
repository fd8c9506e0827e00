/** Reading and writing the audience of a permission rule. */
import { expect, test } from "vitest";
import type { Permission, Permissions } from "../../../api/groups.ts";
import { audienceOf, labelOf, ruleOf, thingsOf } from "./things.ts";

const rule = (everybody: boolean | null, groups: string[] = []): Permission => ({
  kind: "tool",
  name: "crm__*",
  everybody,
  groups,
});

test("things are those that there are and those that have a rule", () => {
  const things = { model: ["b", "a"], agent: [], tool: [], workspace: [], right: [] };
  const permissions: Permission[] = [
    { kind: "model", name: "gone", everybody: false, groups: [] },
    { kind: "model", name: "*", everybody: false, groups: [] },
    { kind: "agent", name: "other", everybody: false, groups: [] },
  ];
  const all: Permissions = { permissions, things };
  expect(thingsOf(all, "model")).toEqual(["*", "a", "b", "gone"]);
});

test("an audience is read and written alike", () => {
  expect(audienceOf(undefined, "x")).toBe("rest");
  expect(audienceOf(undefined, "*")).toBe("everybody");
  expect(audienceOf(rule(false), "x")).toBe("administrators");
  expect(audienceOf(rule(false, ["g"]), "x")).toBe("groups");
  expect(audienceOf(rule(true), "x")).toBe("everybody");
  expect(audienceOf(rule(null, ["g"]), "x")).toBe("groups");
  for (const name of ["x", "*"]) {
    for (const audience of ["everybody", "groups", "administrators"] as const) {
      expect(audienceOf(ruleOf("tool", name, audience, ["g"]), name)).toBe(audience);
    }
  }
  expect(ruleOf("tool", "x", "rest", ["g"])).toEqual({
    kind: "tool",
    name: "x",
    everybody: null,
    groups: [],
  });
});

test("names are put into words where there are some", () => {
  expect(labelOf("tool", "crm__*")).toContain("crm");
  expect(labelOf("tool", "read_file")).toBe("read_file");
  expect(labelOf("right", "sharing")).not.toBe("sharing");
  expect(labelOf("right", "flying")).toBe("flying");
  expect(labelOf("model", "*")).not.toBe("*");
});
