/**
 * The settings with the real program: every page without axe violations and without anything wider than the screen,
 * the search, the addresses, and the menu on a phone.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { addPerson, callApi, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, cookies, glasshouse, sections;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse({ GLASSHOUSE_LIMITS_DEPTH: "3" })]);
  const page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await page.goto("/settings");
  const links = menu(page).getByRole("link");
  await links.first().waitFor();
  const hrefs = (links) => links.evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  const entries = await hrefs(links);
  assert.equal(entries.length, 13, `${entries}`);
  sections = [];
  for (const entry of entries) {
    await page.goto(entry);
    await menu(page).locator(`[aria-current][href="${entry}"]`).waitFor();
    const tabs = await hrefs(page.locator("main .tabs a"));
    sections.push(...(tabs.length > 0 ? tabs : [entry]));
  }
  assert.equal(sections.length, 21, `${sections}`);
  cookies = await page.context().cookies();
  await page.context().close();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const menu = (page) => page.getByRole("navigation", { name: "Settings" });
const heading = (page, name) => page.getByRole("heading", { name, exact: true });
const search = (page) => page.getByRole("combobox", { name: "Search settings" });
const option = (page, name) => page.getByRole("option", { name });
const isFocused = (locator) =>
  until("it has the focus", () => locator.evaluate((element) => element === document.activeElement));

/** Whether the element is in the visible part of the page. */
const isInView = (locator) =>
  until("it is in view", () =>
    locator.evaluate((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }),
  );

async function openSettings(path, options = {}) {
  const page = await openPage(browser, { url: glasshouse.url, ...options });
  await page.context().addCookies(cookies);
  await page.goto(path);
  return page;
}

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
      await page.locator(".column > :nth-child(2):not(.tabs), .column > :nth-child(3)").first().waitFor();
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

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test("on a phone the menu is a page of its own, and each page leads back to it", async () => {
  const page = await openSettings("/settings", phone);
  await heading(page, "Settings").waitFor();
  await check(page, "the menu on a phone");
  await menu(page).getByRole("link", { name: "API keys" }).tap();
  await page.waitForURL("**/settings/keys");
  await heading(page, "API keys").waitFor();
  assert.equal(await menu(page).count(), 0);
  await page.getByRole("link", { name: "Settings", exact: true }).tap();
  await heading(page, "Settings").waitFor();
  await menu(page).getByRole("link", { name: "People and groups" }).tap();
  await page.getByRole("link", { name: "Groups", exact: true }).tap();
  await page.waitForURL("**/settings/groups");
  await page.goBack();
  await page.goBack();
  await heading(page, "Settings").waitFor();
  const box = await menu(page).getByRole("link", { name: "General" }).boundingBox();
  assert.ok(box.height >= 44, `${box.height} px`);

  await search(page).fill("recovery");
  await check(page, "the search on a phone");
  await option(page, "Two-step sign-in").tap();
  await heading(page, "Account and security").waitFor();
  await isInView(page.locator("h2[data-found]"));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("the search finds a setting by its label, opens it with the keyboard and marks it", async () => {
  const page = await openSettings("/settings");
  await search(page).fill("weig");
  await option(page, /^Weight/).waitFor();
  await search(page).fill("new pass");
  const found = option(page, /^New password/);
  await found.waitFor();
  assert.match(await found.innerText(), /Account and security › Password/);
  await check(page, "the search");
  await search(page).press("ArrowUp");
  assert.equal(
    await option(page, /^Search the configuration for/).getAttribute("aria-selected"),
    "true",
    "around the end",
  );
  await search(page).press("ArrowDown");
  await search(page).press("Enter");
  await page.waitForURL("**/settings/account#password.new");
  const field = page.getByLabel("New password");
  await isFocused(field);
  await isInView(field);
  await page.locator("[data-found]", { hasText: "New password" }).waitFor();
  await page.locator("[data-found]").waitFor({ state: "detached" });
  assert.equal(await search(page).inputValue(), "");
  await menu(page).getByRole("link", { name: "General" }).waitFor();

  // Within a page nothing is lost, and nothing is asked.
  await field.fill("half a password");
  await search(page).fill("log out every");
  await search(page).press("Enter");
  await isFocused(page.getByRole("button", { name: "Log out everywhere" }));
  await isInView(page.getByRole("button", { name: "Log out everywhere" }));
  assert.equal(await field.inputValue(), "half a password");
  await search(page).fill("theme");
  await search(page).press("Enter");
  await page
    .getByRole("dialog", { name: "Leave this page?" })
    .getByRole("button", { name: "Discard" })
    .click();
  await isFocused(heading(page, "Theme"));

  await search(page).fill("nothing like this");
  await until(
    "only the configuration is offered",
    async () => (await page.locator("[role=option]").count()) === 1,
  );
  await search(page).press("Enter");
  await page.waitForURL("**/settings/configuration?q=*");
  await page.getByText("No matching settings").waitFor();
  await search(page).fill("session_hours");
  await search(page).press("Enter");
  await hasValue(page.getByLabel("Stay signed in when inactive"), "720");
  await search(page).fill("limits.usd");
  assert.equal(await page.locator("[role=option]").count(), 1, "only the configuration");
  await search(page).fill("run cost");
  await search(page).press("Enter");
  await page.waitForURL("**/settings/configuration#setting.limits.usd");
  await isFocused(page.getByLabel("Run cost"));
  await search(page).fill("x");
  await search(page).press("Escape");
  assert.equal(await search(page).inputValue(), "");
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("the search is in the page's language", async () => {
  const page = await openSettings("/settings", { preferences: { language: "ru" } });
  const field = page.getByRole("combobox", { name: "Поиск по настройкам" });
  await field.fill("сеанс");
  await field.press("Enter");
  await page.waitForURL("**/settings/account#settings.sessions");
  await isInView(heading(page, "Сеансы"));
  await page.context().close();
});

test("earlier addresses lead to the same parts", async () => {
  const page = await openSettings("/settings/sessions");
  await heading(page, "Account and security").waitFor();
  await isInView(heading(page, "Sessions"));
  for (const [address, name, part] of [
    ["appearance", "General", "Theme"],
    ["passkeys", "Account and security", "Passkeys"],
    ["consent", "Tool permissions and sign-ins", "Always allowed"],
    ["webhooks", "Schedules and webhooks", "Webhooks"],
    ["documents", "Knowledge", "Semantic search"],
    ["hooks", "Agents, skills and tools", "Hooks"],
    ["limits", "People and groups", "Every account"],
    ["jobs", "Background tasks"],
    ["audit", "System"],
  ]) {
    await page.goto(`/settings/${address}`);
    await heading(page, name).waitFor();
    if (part) await isInView(heading(page, part));
    assert.equal(new URL(page.url()).pathname, `/settings/${address}`);
  }
  await page.getByRole("link", { name: "Audit log" }).and(page.locator("[aria-current=page]")).waitFor();
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("one's own name is changed", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  await page.goto("/settings/profile");
  const save = page.getByRole("button", { name: "Save" });
  const name = page.getByRole("region", { name: "Profile" }).getByLabel("Name");
  await name.waitFor();
  assert.ok(await save.isDisabled());
  await name.fill("Countess Ada");
  await save.click();
  await page.getByText("Name changed.").waitFor();
  await page.reload();
  await name.waitFor();
  await hasValue(name, "Countess Ada");
  await page.context().close();
});

test("the audit log tells a change in words, with what was before", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  const { id } = await addPerson(page);
  await callApi(page, glasshouse.url, "patch", `/users/${id}`, { role: "admin" });
  for (const tokens of [1000, 250_000]) {
    const limits = { day: { tokens } };
    await callApi(page, glasshouse.url, "put", "/limits", { of: "default", limits });
  }
  await page.goto("/settings/audit");
  const entries = page.getByRole("main").getByRole("listitem");
  await entries.getByText("Per day, Tokens: 1,000 → 250,000").waitFor();
  await entries.filter({ hasText: "Changed account" }).getByText("Role: User → Administrator").waitFor();
  await check(page, "changes in the audit log");
  // Entries are missing between those that were found.
  await page.getByLabel("Search by address, name or ID").fill("default");
  await entries.getByText("Per day, Tokens: 250,000").waitFor();
  assert.equal(await entries.getByText("→").count(), 0);
  assert.deepEqual(page.complaints, []);
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

/** The page of the settings of the server, and the row of one of them. */
async function openConfiguration(address = "/settings/configuration") {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.context().addCookies(cookies);
  await page.goto(address);
  const row = (title) => page.getByRole("main").getByRole("listitem").filter({ hasText: title });
  return { page, row };
}

test("settings of the server are found by what they do", async () => {
  const { page, row } = await openConfiguration();
  const steps = page.getByLabel("Agent steps", { exact: true });
  await hasValue(steps, "50");
  const field = page.getByRole("main").getByRole("searchbox", { name: "Search" });
  await field.fill("browser stays signed in");
  await hasValue(page.getByLabel("Stay signed in when inactive"), "720");
  assert.equal(await steps.count(), 0);

  // Addresses are read at the start, so they are not among those that can be changed.
  await field.fill("addresses to listen on");
  await page.getByText("No matching settings").waitFor();
  await page.getByRole("button", { name: "Search all settings" }).click();
  await row("listen").getByText("Set by a command-line flag").waitFor();
  await row("listen").getByText("Read when the server starts").waitFor();
  await field.fill("moderation");
  await row("moderation").getByText("Only the person who runs the server can change this").waitFor();

  await field.fill("");
  await page.getByLabel("Show", { exact: true }).selectOption("Changed from default");
  await row("listen").first().waitFor();
  assert.equal(await steps.count(), 0);
  await page.getByLabel("Show", { exact: true }).selectOption("All settings");
  await check(page, "all settings of the server");
  await row("web.search_url").getByRole("link", { name: "Change under “Web search”" }).click();
  await page.waitForURL("**/settings/tools#webSearch.title");
  await page.context().close();
});

test("a setting of the server is changed and reset, and the audit log tells it", async () => {
  const { page, row } = await openConfiguration();
  const steps = page.getByLabel("Agent steps", { exact: true });
  const of = row("limits.steps");
  await hasValue(steps, "50");
  assert.equal(await of.getByRole("button").count(), 0, "nothing to save or to reset");
  await steps.fill("7");
  await of.getByText("Not saved. Current value: 50").waitFor();
  await check(page, "a setting with a draft");

  // What was typed survives Escape and a reload, and is no change yet.
  await steps.press("Escape");
  await page.reload();
  await hasValue(steps, "7");
  await of.getByRole("button", { name: "Cancel" }).click();
  await hasValue(steps, "50");
  await isFocused(steps);

  await steps.fill("7");
  await steps.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await page.reload();
  await hasValue(steps, "7");
  await of.getByText("Default: 50").waitFor();

  await of.getByRole("button", { name: "Reset to default: Agent steps" }).click();
  await hasValue(steps, "50");
  await page.getByRole("button", { name: "Undo" }).click();
  await hasValue(steps, "7");
  await of.getByRole("button", { name: "Reset to default: Agent steps" }).click();
  await hasValue(steps, "50");

  const fetch = page.getByLabel("Read web pages", { exact: true });
  await fetch.uncheck();
  await row("web.fetch").getByText("Not saved. Current value: On").waitFor();
  await row("web.fetch").getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).first().waitFor();
  await page.reload();
  await fetch.waitFor();
  assert.ok(!(await fetch.isChecked()));

  await page.goto("/settings/audit");
  const entries = page.getByRole("main").getByRole("listitem");
  await entries.getByText("Agent steps: 50 → 7").first().waitFor();
  await entries.getByText("Agent steps: 7 → 50").first().waitFor();
  await entries.getByText("Read web pages: On → Off").waitFor();
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a value that is refused stays in its field, and one of the environment is fixed", async () => {
  const { page, row } = await openConfiguration();
  const share = page.getByLabel("Context used before summarizing", { exact: true });
  const of = row("limits.context_share");
  await share.fill("3");
  await share.press("Enter");
  await of.getByRole("alert").getByText("Enter a number from 0.2 to 0.95.").waitFor();
  await hasValue(share, "3");
  assert.equal(await share.getAttribute("aria-invalid"), "true");
  await isFocused(share);
  await check(page, "a refused setting");
  await share.fill("half");
  await share.press("Enter");
  await of.getByRole("alert").getByText("Enter a number").waitFor();
  await share.fill("0,5");
  await share.press("Enter");
  await page.getByText("Saved", { exact: true }).waitFor();
  await hasValue(share, "0.5");

  const depth = row("limits.depth");
  await depth.getByText("Set by GLASSHOUSE_LIMITS_DEPTH").waitFor();
  assert.equal(await depth.getByRole("textbox").count(), 0);
  await page.context().close();
});

test("models for documents are chosen where the documents are", async () => {
  const { page, row } = await openConfiguration("/settings/knowledge");
  await heading(page, "Models for documents").waitFor();
  const values = { "knowledge.vision_model": "my-vision-model" };
  await callApi(page, glasshouse.url, "patch", "/settings", { values });
  await page.reload();
  const vision = page.getByLabel("Model that reads images", { exact: true });
  await hasValue(vision, "my-vision-model");
  await vision.selectOption("None");
  await row("knowledge.vision_model").getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
  await check(page, "models for documents");
  await page.goto("/settings/configuration");
  await hasValue(vision, "");
  await page.goto("/settings/audit");
  await page.getByText("Model that reads images: my-vision-model → none").waitFor();
  await page.context().close();
});

test("only administrators see settings of the server", async () => {
  const { page: admin } = await openConfiguration();
  const eve = { name: "Eve", email: "eve@example.org", password: "battery staple" };
  await addPerson(admin, eve);
  await admin.context().close();
  const page = await openPage(browser, { url: glasshouse.url });
  await logIn(page, eve);
  await page.waitForURL((url) => url.pathname !== "/login");
  await page.goto("/settings/configuration");
  await heading(page, "General").waitFor();
  assert.equal(await page.getByText("Agent steps").count(), 0);
  const answer = await page.request.get(`${glasshouse.url}/api/v1/settings`);
  assert.ok([401, 403].includes(answer.status()), `${answer.status()}`);
  await page.context().close();
});
