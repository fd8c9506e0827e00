/** From the first visit to the first answer with a model server and its key, with the clicks counted. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

let browser, glasshouse, model;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse(),
    startModel([{ turns: [turn(text("Hello, Ada."))] }]),
  ]);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

test("a provider, its key and the first answer take three clicks", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.goto("/");
  await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  await page.getByLabel("Email").fill("ada@example.org");
  await page.getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/welcome");
  let clicks = 0;
  const click = async (target) => {
    clicks += 1;
    await target.click();
  };
  await click(page.getByRole("group", { name: "Provider" }).getByText("Other", { exact: false }).last());
  await page.getByLabel("Base URL").fill(model.url);
  await page.getByLabel("API key").fill("sk-test");
  await click(page.getByRole("button", { name: "Connect", exact: true }));
  await click(page.getByRole("button", { name: "Go to chats" }));
  await page.getByRole("textbox", { name: "Message" }).fill("Hello");
  await page.keyboard.press("Enter");
  await page.getByText("Hello, Ada.").waitFor();
  assert.equal(clicks, 3);
  assert.deepEqual(page.complaints, []);
});
