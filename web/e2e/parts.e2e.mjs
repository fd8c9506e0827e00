/** Failed loads with the real program: they are retried, a chunk by reloading the page, or the page shows an error. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { hasValue, launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});
test.beforeEach(async () => {
  await page.unrouteAll({ behavior: "wait" });
  await page.goto("/");
  await page.evaluate(() => sessionStorage.clear());
  // Lost if the page is reloaded.
  await page.evaluate(() => (window.isSame = true));
});

const PART = "**/assets/KnowledgePage*.js";
const isSame = () => page.evaluate(() => window.isSame === true);
const open = () => page.locator('a[href="/knowledge"]').first().click();
const opened = () => page.getByRole("heading", { name: "Knowledge" }).waitFor();
const told = () => page.getByText("Part of the page failed to load.").waitFor();

test("a part that an update has taken away comes with a fresh page", async () => {
  await page.getByLabel("Message", { exact: true }).fill("half a thought");
  let isOld = true;
  page.once("domcontentloaded", () => (isOld = false));
  await page.route(PART, (route) => (isOld ? route.fulfill({ status: 404, body: "" }) : route.continue()));
  await open();
  await opened();
  assert.equal(await isSame(), false);
  await page.goBack();
  await hasValue(page.getByLabel("Message", { exact: true }), "half a thought");
});

test("what does not come then either is told, and a button tries again", async () => {
  await page.route(PART, (route) => route.fulfill({ status: 404, body: "" }));
  await open();
  await told();
  assert.equal(await isSame(), false);
  if (process.env.E2E_PICTURES) await page.screenshot({ path: `${process.env.E2E_PICTURES}/lost-part.png` });
  await page.unrouteAll({ behavior: "wait" });
  await page.getByRole("button", { name: "Retry" }).click();
  await opened();
});

test("the page stays where there is no server to load it from", async () => {
  await page.route(PART, (route) => route.abort());
  await page.route("**/api/v1/me", (route) => route.abort());
  await open();
  await told();
  assert.equal(await isSame(), true);
});

test("what is asked when the network changes is asked again", async () => {
  let broken = 0;
  await page.route("**/api/v1/me", (route) => (broken++ < 1 ? route.abort() : route.continue()));
  await page.reload();
  await page.getByLabel("Message", { exact: true }).waitFor();
  assert.equal(broken, 2);
});

test("a server that is away is told, and its page comes once it is there", async () => {
  let isAway = true;
  await page.route("**/api/v1/me", (route) => (isAway ? route.abort() : route.continue()));
  await page.reload();
  await page.getByText("Can’t reach the server.").waitFor();
  isAway = false;
  await page.getByLabel("Message", { exact: true }).waitFor();
});
