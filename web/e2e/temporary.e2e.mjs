/** Temporary chats: in no list, deleted soon after they are left, and kept where that is wished. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const DAY_MS = 24 * 3600 * 1000;
const SOON_MS = 300_000;

let browser, glasshouse, model, page, chat;

const picture = async (name) => {
  if (process.env.E2E_PICTURES) {
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `temporary-${name}.png`) });
  }
};

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse(),
    startModel([{ contains: "secret", turns: Array.from({ length: 4 }, () => turn(text("I keep it."))) }]),
  ]);
  page = await openPage(browser, glasshouse);
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const rows = () => page.getByRole("navigation").getByRole("link", { name: "My secret" });
const toggle = () => page.getByRole("button", { name: "Temporary chat" });

/** Milliseconds until the chat is deleted. */
async function left() {
  const { expires_at } = await (await page.request.get(`${glasshouse.url}/api/v1/chats/${chat}`)).json();
  return expires_at - Date.now();
}

test("one click makes a new chat temporary, and nothing lists it", async () => {
  await page.goto("/");
  await toggle().click();
  await page.getByRole("heading", { name: "Temporary chat" }).waitFor();
  await check(page, "empty temporary chat");
  await picture("empty");
  await page.locator("#composer").fill("My secret");
  await page.locator("#composer").press("Enter");
  await page.getByText("I keep it.").waitFor();
  chat = new URL(page.url()).pathname.split("/").at(-1);
  assert.ok((await left()) > DAY_MS - 60_000);
  assert.equal(await rows().count(), 0);
  await check(page, "temporary chat");
  await picture("chat");
});

test("a reload loses nothing", async () => {
  await page.reload();
  await page.getByText("I keep it.").waitFor();
  await until("its deletion is put off", async () => (await left()) > DAY_MS - 60_000);
  await page.getByRole("button", { name: "Keep chat" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Share" }).count(), 0);
  assert.equal(await rows().count(), 0);
});

test("it is deleted soon after it is left, but not if one comes back", async () => {
  await page.getByRole("button", { name: "New chat" }).first().click();
  await until("its deletion is near", async () => (await left()) < SOON_MS + 1000);
  assert.equal(await toggle().getAttribute("aria-pressed"), "false");
  await page.goBack();
  await page.getByText("I keep it.").waitFor();
  await until("its deletion is put off", async () => (await left()) > DAY_MS - 60_000);
});

test("it can be kept", async () => {
  await page.getByRole("button", { name: "Keep chat" }).click();
  await rows().waitFor();
  await page.getByRole("button", { name: "Keep chat" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Share" }).waitFor();
  assert.ok(Number.isNaN(await left()));
});

test("nothing complained", () => assert.deepEqual(page.complaints, []));
