/** Every audit action is translated in each language. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AuditEntry } from "../../api/audit.ts";
import { en } from "../../i18n/en/dictionary.ts";
import { areas, detailsOf, titleOf } from "./audit.ts";

const routes = readFileSync("../crates/server/src/http.rs", "utf8");
const actions = [...routes.matchAll(/\.noted\("([^"]+)"\)/g)].map(([, action]) => action ?? "");

test("every action that a route notes has words and an area", () => {
  expect(actions.length).toBeGreaterThan(30);
  for (const action of [
    ...actions,
    "session.failed",
    "session.first_step",
    "session.code_failed",
    "audit.export",
  ]) {
    expect(en, action).toHaveProperty([`audit.${action}`]);
    // Actions of an older protocol are not translated.
    if (!action.startsWith("debug_chat.")) expect(areas, action).toContain(action.split(".")[0]);
  }
});

test("an action of a newer server is shown as it is", () => {
  expect(titleOf("user.create")).toBe("Created account");
  expect(titleOf("moon.landing")).toBe("moon.landing");
  expect(titleOf("constructor")).toBe("constructor");
});

const entry = (
  action: string,
  details: AuditEntry["details"],
  subject: string | null = "u1",
): AuditEntry => ({
  id: crypto.randomUUID(),
  at: 0,
  actor: null,
  actor_email: null,
  key: null,
  address: null,
  request_id: null,
  action,
  subject,
  subject_name: null,
  details,
});
const told = (entry: AuditEntry, earlier: AuditEntry[] = []) => {
  const { changes, others } = detailsOf(entry, earlier);
  const line = ({ name, before, after }: (typeof changes)[number]) =>
    `${name}: ${before === null ? "" : `${before} → `}${after}`;
  return [changes.map(line), others.map(line)];
};

test("a change is told with what was before, if the log says so", () => {
  const made = entry("user.create", { role: "user" });
  const promoted = entry("user.change", { role: "admin", suspended: false });
  expect(told(promoted, [made])).toEqual([["Role: User → Administrator", "Suspended: no"], []]);
  expect(told(promoted, [entry("user.create", { role: "user" }, "u2")])[0]).toContain("Role: Administrator");
  expect(told(promoted, [])[0]).toContain("Role: Administrator");
});

test("of settings and limits only what has changed is told", () => {
  const limits = (tokens: number | null) => ({
    limits: { day: { tokens, requests: null, usd: null }, month: { tokens: null, requests: null, usd: 20 } },
  });
  const first = entry("limits.set", limits(null));
  expect(told(first)[0]).toEqual(["Per month, US dollars: 20"]);
  expect(told(entry("limits.set", limits(100_000)), [first])[0]).toEqual(["Per day, Tokens: none → 100,000"]);
  // Limits of each member of the same group are others.
  const ofEach = entry("limits.set", { ...limits(5), each_person: true });
  expect(told(ofEach, [first])).toEqual([
    ["Per day, Tokens: 5", "Per month, US dollars: 20"],
    ["For each person: yes"],
  ]);
  expect(told(entry("limits.set", { limits: { day: { tokens: null } } }))[0]).toEqual(["Limits: none"]);
  const model = entry("model.change", { settings: { tool_mode: "native", temperature: 0.5 } });
  expect(
    told(entry("model.change", { settings: { tool_mode: "off", temperature: 0.5 } }), [model])[0],
  ).toEqual(["Tool calling: native → off"]);
});

test("a permission that follows the general rule has no value", () => {
  const open = entry("permission.set", { everybody: true, groups: [] });
  const rest = entry("permission.set", { groups: ["Editors"] });
  const closed = entry("permission.set", { everybody: false, groups: [] });
  expect(told(closed, [rest, open])[0]).toEqual(["Open to everyone: Default → no", "Groups: Editors → none"]);
});

test("what is no value of the subject is told beside", () => {
  expect(told(entry("key.create", { scopes: ["chat", "read"], front_end: true }))).toEqual([
    [],
    ["Permissions: Use models and agents, Read my data", "Trusted front end: yes"],
  ]);
  expect(told(entry("key.rotate", { old_good_for_s: 3600 }))[1]).toEqual(["Old secret valid for: 1 h 0 min"]);
  expect(told(entry("session.open", { with: "recovery code" }))[1]).toEqual(["With: recovery code"]);
  expect(told(entry("moon.landing", { constructor: "x", new_thing: { deep: 1 } }))[1]).toEqual([
    "Constructor: x",
    "New thing, Deep: 1",
  ]);
});

test("a change of server settings is told by their titles, with what was before", () => {
  const change = (before: object, values: object) =>
    told(entry("settings.change", { before, values }, null))[0];
  expect(change({ "limits.steps": 50 }, { "limits.steps": 7 })).toEqual(["Agent steps: 50 → 7"]);
  expect(
    change(
      { session_hours: 1, "web.fetch": true, "knowledge.graph_model": "" },
      { session_hours: 720, "web.fetch": false, "knowledge.graph_model": "llama" },
    ),
  ).toEqual([
    "Stay signed in when inactive: 1 hour → 720 hours",
    "Read web pages: On → Off",
    "Model for knowledge graphs: none → llama",
  ]);
  // One without a title, of a newer server, and one that is secret.
  expect(change({ "moon.phase": "[]" }, { "moon.phase": '["full", "new"]' })).toEqual([
    "moon.phase: none → full, new",
  ]);
  const rules = [{ tool: "write_file", arguments: { path: "/site/*" }, then: "ask" }];
  expect(change({ approvals: "[]" }, { approvals: JSON.stringify(rules) })).toEqual([
    "Approval rules: none → write_file /site/* ask",
  ]);
  expect(change({ "oidc.client_secret": null }, { "oidc.client_secret": null })).toEqual([
    "Client secret: (secret)",
  ]);
  expect(told(entry("settings.change", null))).toEqual([[], []]);
});
