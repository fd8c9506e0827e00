/** The settings of the server are loaded once, changed together, and say where they are set. */
import { expect, test } from "vitest";
import type { ServerSetting, SettingValue } from "../api/configuration.ts";
import { ok, refused, serve } from "../test/server.ts";
import { ServerSettings } from "./server-settings.svelte.ts";

const answer = (value: SettingValue, from: ServerSetting["from"] = "web_app") =>
  ok({ settings: [{ name: "mail.server", variable: "MAIL", value, from }], file: "c.toml", file_read: true });

test("a change is sent once, and what the server stored is shown", async () => {
  const requests = serve({
    "GET /api/v1/settings": () => answer("a"),
    "PATCH /api/v1/settings": () => answer("b"),
  });
  const settings = new ServerSettings();
  await expect.poll(() => settings.find("mail.server")?.value).toBe("a");
  await settings.change({ "mail.server": "b " });
  expect(settings.find("mail.server")?.value).toBe("b");
  expect(requests.map(({ call, body }) => [call, body])).toEqual([
    ["GET /api/v1/settings", undefined],
    ["PATCH /api/v1/settings", { values: { "mail.server": "b " } }],
    ["GET /api/v1/me", undefined],
  ]);
});

test("a refused change leaves the settings as they are", async () => {
  serve({
    "GET /api/v1/settings": () => answer("a"),
    "PATCH /api/v1/settings": () => refused(400, "invalid_request", "No.", "mail.server"),
  });
  const settings = new ServerSettings();
  await expect(settings.change({ "mail.server": "b" })).rejects.toThrow("No.");
  await expect.poll(() => settings.find("mail.server")?.value).toBe("a");
});

test.each<[ServerSetting["from"], string]>([
  ["default", ""],
  ["web_app", ""],
  ["file", "Set in c.toml"],
  ["environment", "Set by MAIL"],
  ["flag", "Set by a command-line flag"],
])("a setting from %s is fixed by “%s”", async (from, source) => {
  serve({ "GET /api/v1/settings": () => answer("a", from) });
  const settings = new ServerSettings();
  await expect.poll(() => settings.read).not.toBeNull();
  expect(settings.fixedBy(settings.find("mail.server"))).toBe(source);
  expect(settings.fixedBy(settings.find("unknown"))).toBe("");
});
