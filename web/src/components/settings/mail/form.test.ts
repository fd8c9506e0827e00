/** The form of the mail server: what is sent, what is accepted, and what follows from other fields. */
import { expect, test } from "vitest";
import type { ServerSetting, SettingValue } from "../../../api/configuration.ts";
import {
  changeOf,
  formOf,
  hostOf,
  isSender,
  isServer,
  securityOf,
  settingsOf,
  type MailForm,
} from "./form.ts";

type Stored = [name: string, value: SettingValue | null, from?: ServerSetting["from"]];

function settings(...stored: Stored[]) {
  const all = ["server", "security", "user", "password", "from"].map((name) => {
    const usual = name === "security" ? "starttls" : name === "password" ? null : "";
    const [, value, from = "web_app"] = stored.find(([own]) => own === name) ?? [name, usual, "default"];
    return { name: `mail.${name}`, variable: `GLASSHOUSE_MAIL_${name}`, value, from } as ServerSetting;
  });
  const found = settingsOf(all);
  if (!found) throw new Error("no settings");
  return found;
}

const change = (typed: Partial<MailForm>, ...stored: Stored[]) => {
  const before = settings(...stored);
  return changeOf({ ...formOf(before), ...typed }, before);
};

test("a server without these settings has no form", () => {
  expect(settingsOf([])).toBeNull();
});

test("only what differs is sent, and an empty password stays as it is", () => {
  const stored: Stored[] = [
    ["server", "smtp.example.org"],
    ["user", "ai"],
    ["password", null],
    ["from", "ai@example.org"],
  ];
  expect(change({}, ...stored)).toEqual({});
  expect(change({ server: " mx.example.org ", security: "tls" }, ...stored)).toEqual({
    "mail.server": "mx.example.org",
    "mail.security": "tls",
  });
  expect(change({ password: " secret " }, ...stored)).toEqual({ "mail.password": " secret " });
  expect(change({ user: "" }, ...stored)).toEqual({ "mail.user": null, "mail.password": null });
});

test("what the configuration sets is not sent", () => {
  const stored: Stored[] = [
    ["user", "ai", "file"],
    ["password", null, "environment"],
  ];
  expect(change({ server: "x", user: "", password: "typed", from: "a@b" }, ...stored)).toEqual({
    "mail.server": "x",
    "mail.from": "a@b",
  });
});

test.each([
  ["smtp.example.org", true],
  ["smtp.example.org:465", true],
  ["127.0.0.1:2525", true],
  ["[::1]:2525", true],
  ["::1", true],
  ["", false],
  ["me@example.org", false],
  ["smtp.example.org:smtp", false],
  ["smtp example", false],
])("the server %j: %s", (text, expected) => {
  expect(isServer(text)).toBe(expected);
});

test.each([
  ["ai@example.org", true],
  [" Glasshouse <ai@example.org> ", true],
  ["Glasshouse", false],
  ["Glasshouse ai@example.org", false],
  ["", false],
])("the sender %j: %s", (text, expected) => {
  expect(isSender(text)).toBe(expected);
});

test("the scheme of a pasted address is left out, and usual ports say how to encrypt", () => {
  expect(hostOf(" smtps://smtp.example.org:465/ ")).toBe("smtp.example.org:465");
  expect(securityOf("smtp.example.org:465")).toBe("tls");
  expect(securityOf("smtp.example.org:587")).toBe("starttls");
  expect(securityOf("smtp.example.org:25")).toBeUndefined();
  expect(securityOf("smtp.example.org")).toBeUndefined();
});
