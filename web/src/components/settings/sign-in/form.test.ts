/** The form of the sign-in provider: presets, what is sent, and what happens to the stored secret. */
import { describe, expect, test } from "vitest";
import type { ServerSetting, SettingValue } from "../../../api/configuration.ts";
import {
  changeOf,
  formOf,
  isAllFixed,
  isComplete,
  isSecretElsewhere,
  redirectOf,
  settingsOf,
  withPreset,
} from "./form.ts";
import { placeholderIn, presetOf } from "./presets.ts";

const defaults: Record<string, SettingValue> = {
  issuer: "",
  client_id: "",
  client_secret: "",
  name: "OpenID Connect",
  scopes: ["openid", "email", "profile"],
  groups_claim: "groups",
  groups_url: "",
  admin_groups: [],
  allowed_groups: [],
  create_accounts: true,
  link_by_email: false,
};

/** The settings with these values of the web app; `null` is a secret. */
function stored(values: Record<string, SettingValue | null> = {}, from: ServerSetting["from"] = "web_app") {
  const all = Object.entries(defaults).map(([key, usual]): ServerSetting => {
    const isSet = Object.hasOwn(values, key);
    return {
      name: `oidc.${key}`,
      variable: `GLASSHOUSE_OIDC_${key.toUpperCase()}`,
      summary: "",
      details: "",
      default: usual,
      value: isSet ? (values[key] ?? null) : usual,
      from: isSet ? from : "default",
      changed_in: "sign_in",
    };
  });
  return settingsOf(all);
}
const issuer = "https://id.example.org/realms/main";
const set = { issuer, client_id: "gh", client_secret: null, admin_groups: ["heads, all"] };

test("only what differs is sent, and defaults as null", () => {
  const settings = stored(set);
  const form = formOf(settings);
  expect(changeOf(form, settings)).toEqual({});
  const changed = {
    ...form,
    name: "",
    adminGroups: "",
    allowedGroups: " staff \n\n",
    scopes: "openid, email",
  };
  expect(changeOf({ ...changed, createAccounts: false, secret: "new" }, settings)).toEqual({
    "oidc.admin_groups": null,
    "oidc.allowed_groups": ["staff"],
    "oidc.scopes": ["openid", "email"],
    "oidc.create_accounts": false,
    "oidc.client_secret": "new",
    "oidc.name": null,
  });
  expect(form.adminGroups).toBe("heads, all");
});

describe("the stored secret", () => {
  const settings = stored(set);
  const form = formOf(settings);
  test("stays at the same host", () => {
    const moved = { ...form, issuer: "https://id.example.org/realms/other" };
    expect(changeOf(moved, settings)).toEqual({ "oidc.issuer": moved.issuer });
  });
  test("does not go to another host", () => {
    const moved = { ...form, issuer: "https://evil.example.org" };
    expect(isSecretElsewhere(moved, settings)).toBe(true);
    expect(changeOf(moved, settings)).toEqual({ "oidc.issuer": moved.issuer, "oidc.client_secret": null });
    expect(changeOf({ ...moved, secret: "x" }, settings)["oidc.client_secret"]).toBe("x");
  });
  test("is not sent anywhere after the provider was turned off", () => {
    const off = stored({ ...set, issuer: "" });
    expect(changeOf({ ...formOf(off), issuer }, off)["oidc.client_secret"]).toBeNull();
  });
  test("can be removed", () => {
    expect(changeOf({ ...form, isSecretRemoved: true }, settings)).toEqual({ "oidc.client_secret": null });
  });
});

test("what the configuration sets is left alone", () => {
  const settings = stored(set, "environment");
  const form = { ...formOf(settings), issuer: "https://other.example.org", secret: "x", name: "Example" };
  expect(changeOf(form, settings)).toEqual({ "oidc.name": "Example" });
  expect(isSecretElsewhere(form, settings)).toBe(false);
  expect(isAllFixed(settings)).toBe(false);
  expect(isAllFixed(stored(defaults, "file"))).toBe(true);
});

test("a preset fills in what nobody has typed", () => {
  const settings = stored();
  const okta = withPreset(formOf(settings), "okta", settings);
  expect(okta).toMatchObject({
    name: "Okta",
    issuer: "https://DOMAIN.okta.com",
    scopes: "openid email profile groups",
  });
  expect(isComplete({ ...okta, clientId: "gh" })).toBe(false);
  const google = withPreset({ ...okta, name: "Work" }, "google", settings);
  expect(google).toMatchObject({
    name: "Work",
    issuer: "https://accounts.google.com",
    scopes: "openid email profile",
  });
  expect(isComplete({ ...google, clientId: "gh" })).toBe(true);
  expect(withPreset({ ...google, issuer }, "entra", settings).issuer).toBe(issuer);
  expect(withPreset(google, "", settings).issuer).toBe("");
});

test.each([
  ["https://login.microsoftonline.com/TENANT-ID/v2.0", "entra", "TENANT-ID"],
  ["https://login.microsoftonline.com/8f1c/v2.0", "entra", ""],
  ["https://id.example.org/realms/REALM", "keycloak", "REALM"],
  ["https://id.example.org/realms/main", "keycloak", ""],
  ["https://HOST/application/o/APPLICATION/", "authentik", "HOST"],
  ["https://acme.okta.com", "okta", ""],
  ["https://gitlab.example.org", "", ""],
  ["nonsense", "", ""],
])("%s is of “%s”", (address, preset, placeholder) => {
  expect(presetOf(address)).toBe(preset);
  expect(placeholderIn(address)).toBe(placeholder);
});

test("the redirect address is at the public address", () => {
  const [one] = Object.values(stored());
  const at = (value: string) => redirectOf(one ? [{ ...one, name: "public_url", value }] : []);
  expect(at("https://ai.example.org/")).toBe("https://ai.example.org/oauth/login/callback");
  expect(at("")).toBe(`${location.origin}/oauth/login/callback`);
});
