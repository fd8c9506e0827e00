/** Every section of the settings with the real program: no axe violations, and nothing wider than the screen. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, cookies, glasshouse, sections;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  const page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await page.goto("/settings");
  const links = page.locator('nav a[href^="/settings/"]');
  await links.first().waitFor();
  sections = await links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.ok(sections.length >= 12, `only ${sections}`);
  cookies = await page.context().cookies();
  await page.context().close();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

/** Whether nothing has arrived from the server for a while; streams, which never end, do not count. */
function isQuiet() {
  const ends = performance.getEntriesByType("resource").map((resource) => resource.responseEnd);
  return performance.now() - Math.max(...ends) > 300;
}

for (const [name, options] of Object.entries({
  "a wide light screen": { preferences: { theme: "light", language: "en" } },
  "a narrow dark screen": {
    preferences: { theme: "dark", language: "ru" },
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  },
})) {
  test(`on ${name}`, async () => {
    const page = await openPage(browser, { url: glasshouse.url, ...options });
    await page.context().addCookies(cookies);
    for (const section of sections) {
      await page.goto(section);
      await page.locator(".column > :nth-child(2)").waitFor();
      await page.waitForFunction(isQuiet);
      await check(page, section);
      const excess = await page.evaluate(() => {
        const main = document.querySelector("main");
        return Math.max(main.scrollWidth - main.clientWidth, document.body.scrollWidth - innerWidth);
      });
      assert.ok(excess <= 0, `${section} is ${excess} px too wide`);
      if (process.env.E2E_PICTURES) {
        const file = `${process.env.E2E_PICTURES}/settings${section.replaceAll("/", "-")}-${options.preferences.theme}.png`;
        await page.screenshot({ path: file });
      }
    }
    assert.deepEqual(page.complaints, []);
    await page.context().close();
  });
}

test("on a small screen the sections are in one menu", async () => {
  const page = await openPage(browser, { url: glasshouse.url, viewport: { width: 390, height: 844 } });
  await page.context().addCookies(cookies);
  await page.goto("/settings/people");
  const menu = page.getByRole("combobox", { name: "Settings" });
  await hasValue(menu, "people");
  await menu.selectOption({ label: "API keys" });
  await page.waitForURL("**/settings/keys");
  await page.getByRole("heading", { name: "API keys" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "People" }).waitFor();
  await hasValue(menu, "people");
  await page.context().close();
});

test("one's own name is changed", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  await page.goto("/settings/profile");
  const save = page.getByRole("button", { name: "Save" });
  await page.getByLabel("Name").waitFor();
  assert.ok(await save.isDisabled());
  await page.getByLabel("Name").fill("Countess Ada");
  await save.click();
  await page.getByText("Name changed.").waitFor();
  await page.reload();
  await page.getByLabel("Name").waitFor();
  await hasValue(page.getByLabel("Name"), "Countess Ada");
  await page.context().close();
});

test("background jobs show their last and next runs", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  await page.goto("/settings/jobs");
  const row = page.getByRole("row").filter({ hasText: "Delete expired data" });
  await row.getByRole("cell", { name: "0 of 1", exact: true }).waitFor();
  await row.getByRole("cell", { name: /^in \d+ min\.$/ }).waitFor();
  // The job runs when documents are added, and periodically.
  await page
    .getByRole("row")
    .filter({ hasText: "Read documents" })
    .getByText(/ago|now/)
    .first()
    .waitFor();
  await page.context().close();
});

test("settings of the server are found by what they do", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  await page.goto("/settings/configuration");
  const steps = page.getByText("limits.steps = 50");
  await steps.waitFor();
  const search = page.getByRole("main").getByRole("searchbox", { name: "Search" });
  await search.fill("browser stays signed in");
  await page.getByText("session_hours = 720").waitFor();
  assert.equal(await steps.count(), 0);
  await search.fill("");
  // The test's command line sets its address and its folder.
  await page.getByLabel("Only changed settings").check();
  await page.getByText("From a command-line flag").first().waitFor();
  assert.equal(await steps.count(), 0);
  assert.ok(await page.getByText("listen = ").isVisible());
  await page.context().close();
});
