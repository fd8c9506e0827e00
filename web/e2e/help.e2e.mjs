/** The documentation in the page with the real program: reached from the menu and from settings, and linked in itself. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url, reducedMotion: "reduce" });
  await setUp(page);
});
test.afterAll(async () => {
  assert.deepEqual(page?.complaints, []);
  await browser?.close();
  await glasshouse?.stop();
});

const heading = (name) => page.getByRole("heading", { name, exact: true });

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/help-${name}.png` });
}

test("the menu of the account opens it", async () => {
  await page.goto("/");
  await page.locator(".user-button").click();
  await page.getByRole("link", { name: "Documentation" }).click();
  await heading("Documentation").waitFor();
  assert.equal(new URL(page.url()).pathname, "/help");
  await check(page, "the documentation");
  await picture("start");
});

test("its links stay in the page, with their headings", async () => {
  await page.getByRole("link", { name: "Groups and permissions" }).first().click();
  await heading("Groups and permissions").waitFor();
  await check(page, "a page of the documentation");
  await picture("page");
  await page.getByRole("link", { name: "identity provider" }).click();
  await heading("Groups").waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  await page.waitForFunction(() => document.activeElement.textContent === "Groups");
  assert.equal(await focused(), "Groups");
  assert.equal(new URL(page.url()).pathname, "/help/team/single-sign-on");
  await page.goBack();
  await heading("Groups and permissions").waitFor();
});

test("settings lead to it", async () => {
  await page.goto("/settings/configuration");
  await page.getByRole("link", { name: "docs/models/prices.md" }).first().click();
  await heading("Prices")
    .or(page.getByRole("heading", { level: 1 }))
    .first()
    .waitFor();
  assert.equal(new URL(page.url()).pathname, "/help/models/prices");
});

test("a page that is not there says so", async () => {
  for (const path of ["/help/team/nothing", "/help/decisions/README", "/help/..%2f..%2fetc/passwd"]) {
    await page.goto(path);
    await page.getByText("Page not found.").waitFor();
  }
});
