/** Every audit action is translated in each language. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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

test("details are one line", () => {
  expect(detailsOf({ role: "admin", limits: { day: 1 }, gone: null })).toBe(
    'role: admin · limits: {"day":1} · gone: null',
  );
});
