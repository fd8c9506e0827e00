/** Settings have a title, a control and a unit, and what people type becomes their values. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ApiError } from "../../../api/http.ts";
import type { ServerSetting, SettingValue } from "../../../api/configuration.ts";
import { settingTitles } from "../../../i18n/en/setting-titles.ts";
import {
  controlOf,
  formatValue,
  keepDraft,
  parse,
  readDraft,
  refusalOf,
  sectionTitleOf,
  titleOf,
  unitOf,
} from "./setting.ts";

const setting = (name: string, value: SettingValue, change: Partial<ServerSetting> = {}): ServerSetting => ({
  name,
  variable: "",
  summary: "",
  details: "",
  default: value,
  value,
  from: "default",
  changed_in: "web_app",
  ...change,
});

/** Names and sections that the server changes in the list of settings of the web app. */
function placesOfWebApp(): string[] {
  const places = readFileSync("../crates/server/src/platform/config/changed_in.rs", "utf8");
  return [...places.matchAll(/\("([\w.]+)", WebApp\)/g)].map(([, place = ""]) => place);
}

test("every setting of the web app has a title, and every section", () => {
  const names = Object.keys(settingTitles);
  expect(placesOfWebApp().length).toBeGreaterThan(12);
  for (const place of placesOfWebApp())
    expect(
      names.some((key) => `${key}.`.startsWith(`setting.${place}`)),
      place,
    ).toBe(true);
  const file = readFileSync("../config.example.toml", "utf8");
  for (const [, section = ""] of file.matchAll(/^\[(\w+)\]$/gm))
    expect(names).toContain(`settingSection.${section}`);
  expect([titleOf("limits.steps"), titleOf("moon.phase")]).toEqual(["Agent steps", "moon.phase"]);
  expect(sectionTitleOf("constructor")).toBe("constructor");
});

test("the control goes with the type of the default", () => {
  expect(controlOf(setting("limits.steps", 50))).toBe("number");
  expect(controlOf(setting("web.fetch", true))).toBe("switch");
  expect(controlOf(setting("knowledge.graph_model", ""))).toBe("model");
  expect(controlOf(setting("moon.phase", "full"))).toBe("text");
  expect(controlOf(setting("knowledge.reader_kind", "tika"))).toBe("choice");
  // A secret can be replaced without being seen.
  expect(controlOf(setting("knowledge.reader_key", "", { value: null }))).toBe("secret");
  expect(controlOf(setting("knowledge.reader_key", "", { from: "environment" }))).toBeNull();
  expect(controlOf(setting("limits.steps", 50, { from: "web_app" }))).toBe("number");
  for (const change of [{ from: "environment" }, { changed_in: "start" }, { value: null }] as const)
    expect(controlOf(setting("limits.steps", 50, change))).toBeNull();
});

test.each([
  ["limits.steps", 50, " 7 ", 7],
  ["limits.tokens", 1, "2,000,000", 2_000_000],
  ["limits.tokens", 1, "2 000 000", 2_000_000],
  ["limits.tokens", 1, "2.5", "configuration.wholeNumber"],
  ["limits.tokens", 1, "-1", "configuration.wholeNumber"],
  ["limits.tokens", 1, "", "configuration.wholeNumber"],
  ["limits.tokens", 1, "99999999999999999999", "configuration.wholeNumber"],
  ["limits.usd", 5, "1,5", 1.5],
  ["limits.usd", 5, "1,500", "configuration.number"],
  ["limits.usd", 5, "lots", "configuration.number"],
  ["limits.context_share", 0.75, "0,125", 0.125],
  ["web.fetch", true, "false", false],
  ["knowledge.graph_model", "", "llama", "llama"],
])("%s, whose default is %j: “%s” is %j", (name, usual, text, wanted) => {
  const parsed = parse(setting(name, usual), text);
  expect("value" in parsed ? parsed.value : parsed.fault).toBe(wanted);
});

test("values have their unit", () => {
  const written = (name: string, value: SettingValue | null) => formatValue(name, value);
  expect([
    written("session_hours", 1),
    written("limits.tokens", 2_000_000),
    written("web.page_mb", 20),
    written("limits.context_share", 0.75),
    written("web.fetch", false),
    written("knowledge.graph_model", ""),
    written("oidc.client_secret", null),
  ]).toEqual(["1 hour", "2,000,000", "20 MB", "0.75", "Off", "none", "(secret)"]);
  expect(written("limits.usd", 5)).toMatch(/^USD\s5$/);
  expect([unitOf("limits.waiting_hours", 2), unitOf("limits.steps", 2), unitOf("limits.usd", 2)]).toEqual([
    "hours",
    "",
    "USD",
  ]);
});

test("a draft is kept, also an empty one", () => {
  expect(readDraft("limits.steps")).toBeNull();
  keepDraft("limits.steps", "");
  expect(readDraft("limits.steps")).toBe("");
  keepDraft("limits.steps", null);
  expect(readDraft("limits.steps")).toBeNull();
});

test("a refused range is told in the page's language, other reasons as the server says them", () => {
  const refused = (reason: string) =>
    refusalOf(
      "limits.context_share",
      new ApiError(400, "invalid_request", reason, null, null, {
        code: "setting_refused",
        params: { reason },
      }),
    );
  expect(refused("limits.context_share must be 0.2 to 0.95")).toBe("Enter a number from 0.2 to 0.95.");
  expect(refused("limits.usd must be 1 to 2")).toBe("limits.usd must be 1 to 2");
  expect(refused("session_max_hours must be at least session_hours")).toContain("at least");
});
