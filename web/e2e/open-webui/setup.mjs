/** The guide's steps in Open WebUI's settings, performed in the page. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { picture } from "./chat.mjs";
import { HEADERS, installPipe } from "./world.mjs";

/** Values shown in the guide's screenshots. */
const EXAMPLE = { url: "http://localhost:8000", key: "gh_0123456789abcdef0123456789abcdef" };

export function setupTests(world) {
  test("setup: a connection, with the headers of our guide", async () => {
    const { openWebUi, glasshouse } = world;
    await openWebUi.post("/openai/config/update", {
      ENABLE_OPENAI_API: true,
      OPENAI_API_BASE_URLS: [],
      OPENAI_API_KEYS: [],
      OPENAI_API_CONFIGS: {},
    });
    const page = await world.chats.newPage();
    await page.goto("/admin/settings/connections");
    await page.getByRole("button", { name: "Add Connection" }).click();
    const form = page.getByRole("dialog").last();
    await form.getByRole("button", { name: "Advanced" }).click();
    await form
      .getByPlaceholder("Enter additional headers in JSON format")
      .fill(JSON.stringify(HEADERS, null, 2));
    const fill = async ({ url, key }) => {
      await form.getByRole("combobox", { name: "URL" }).fill(`${url}/v1`);
      await form.getByRole("textbox", { name: "API Key" }).fill(key);
    };
    await fill(EXAMPLE);
    await picture(page, "connection-setup", { x: 380, y: 50, width: 520, height: 760 });
    await fill(glasshouse);
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByRole("textbox", { name: "API Key" }).waitFor({ state: "hidden" });
    await page.close();
    const { data } = await openWebUi.get("/api/models");
    const models = data.map((model) => model.id);
    for (const name of ["glasshouse/agent", "tour", "scripted"])
      assert.ok(models.includes(name), `${models}`);
  });

  test("setup: the pipe and its valves", async () => {
    await installPipe(world);
    const page = await world.chats.newPage();
    await page.goto("/admin/functions");
    await page.getByRole("button", { name: "Valves" }).click();
    const form = page.getByRole("dialog").last();
    await form.getByRole("textbox", { name: "Deep Agent Url" }).fill(EXAMPLE.url);
    await form.getByRole("textbox", { name: /^A Glasshouse API key/ }).fill(EXAMPLE.key);
    await picture(page, "pipe-setup", { x: 380, y: 100, width: 520, height: 660 });
    await page.close();
    const { data } = await world.openWebUi.get("/api/models");
    assert.ok(data.some((model) => model.id === "glasshouse.glasshouse" && model.name === "Glasshouse"));
  });
}
