/** The sidebar in every page with the real program: it stays mounted, marks the current page, and is a drawer on a phone. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { callApi, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url, preferences: { theme: "light" } });
  await setUp(page);
  const { id: folder } = await api("post", "/folders", { name: "Stars" });
  for (let number = 1; number <= 40; number += 1) await api("post", "/chats", { title: `Chat ${number}` });
  const { id } = await api("post", "/chats", { title: "Catalogues" });
  await api("post", "/chats/order", { chats: [id], folder });
  await api("post", "/knowledge", { name: "Handbook", description: "" });
  await page.goto("/");
  await page.locator("#composer").fill("Show me around");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Allow once" }).waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const api = (method, path, data) => callApi(page, glasshouse.url, method, path, data);

async function picture(name, on = page) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await on.screenshot({ path: `${folder}/frame-${name}.png` });
}

const sidebar = (on = page) => on.getByRole("navigation", { name: "Chats", exact: true });
const link = (name, on = page) => sidebar(on).getByRole("link", { name });
const heading = (name, on = page) => on.getByRole("heading", { name, level: 1, exact: true });
const profileName = () => page.getByRole("region", { name: "Profile" }).getByLabel("Name");
const isFocused = (locator) =>
  until("it has the focus", () => locator.evaluate((element) => element === document.activeElement));

async function openSettings(on = page) {
  await sidebar(on).getByRole("button", { name: "Ada Lovelace: account and settings" }).click();
  await on.getByRole("link", { name: "Settings" }).click();
  await heading("General", on).or(heading("Settings", on)).waitFor();
}

const pages = [
  ["Knowledge", async (on) => (await link("Knowledge", on).click(), heading("Knowledge", on).waitFor())],
  [
    "inbox",
    async (on) => (
      await link(/Needs your attention/, on).click(),
      heading("Needs your attention", on).waitFor()
    ),
  ],
  ["settings", openSettings],
];

test("it stays as it is while the page beside it changes", async () => {
  await sidebar().getByRole("button", { name: "Stars", exact: false }).first().click();
  await link("Catalogues").waitFor();
  const list = sidebar().locator(".list");
  await list.evaluate((element) => {
    element.scrollTop = 240;
    globalThis.mounted = element;
  });
  const top = await list.evaluate((element) => element.scrollTop);
  assert.ok(top > 0);
  for (const [name, go] of pages) {
    await go(page);
    assert.ok(await list.evaluate((element) => element === globalThis.mounted), `${name} keeps the sidebar`);
    assert.equal(
      await list.evaluate((element) => element.scrollTop),
      top,
      `${name} keeps its scroll position`,
    );
    await link("Catalogues").waitFor();
    // The run that waits is still marked.
    await link(/Show me around.*needs your attention/).waitFor();
    assert.equal(await page.getByRole("link", { name: /^Back to/ }).count(), 0);
    await check(page, name);
    await picture(name);
  }
  await page.goBack();
  await heading("Needs your attention").waitFor();
  assert.ok(await list.evaluate((element) => element === globalThis.mounted));

  await page.locator("#chat-search").fill("catalog");
  await sidebar().locator("mark").first().waitFor();
  await link("Knowledge").click();
  await heading("Knowledge").waitFor();
  assert.equal(await page.locator("#chat-search").inputValue(), "catalog");
  await link("Catalogues").click();
  await heading("Catalogues").waitFor();
  assert.ok(await list.evaluate((element) => element === globalThis.mounted), "as in a chat");
  await sidebar().getByRole("button", { name: "Clear search" }).click();
});

test("it marks the current page", async () => {
  const current = () => sidebar().locator("[aria-current]");
  const isOnly = async (name, kind = "page") => {
    assert.equal(await current().count(), 1);
    assert.match(await current().innerText(), name);
    assert.equal(await current().getAttribute("aria-current"), kind);
  };
  await isOnly(/^Catalogues/);
  await link("Knowledge").click();
  await heading("Knowledge").waitFor();
  await isOnly(/^Knowledge/);
  await page.getByRole("main").getByRole("link", { name: "Handbook" }).click();
  await heading("Handbook").waitFor();
  await isOnly(/^Knowledge/, "true");
  await page.getByRole("link", { name: "All collections" }).click();
  await link(/Needs your attention/).click();
  await heading("Needs your attention").waitFor();
  await isOnly(/^Needs your attention/);
  await openSettings();
  assert.equal(await current().count(), 0);
  await sidebar()
    .getByRole("button", { name: /account and settings/ })
    .click();
  assert.equal(await page.getByRole("link", { name: "Settings" }).getAttribute("aria-current"), "page");
  await check(page, "the user menu in the settings");
  await page.keyboard.press("Escape");
});

test("its shortcuts work in every page, and letters are written only in a chat", async () => {
  await page.keyboard.press("Control+k");
  await isFocused(page.locator("#chat-search"));
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+b");
  await sidebar().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "New chat" }).waitFor();
  await check(page, "the settings without the sidebar");
  await picture("closed");
  // Closed in one page, closed in all.
  await page.goBack();
  await heading("Needs your attention").waitFor();
  assert.equal(await sidebar().count(), 0);
  await page.getByRole("button", { name: "Open sidebar" }).click();
  await sidebar().waitFor();
  await page.keyboard.press("Control+/");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.waitFor();
  await page.keyboard.press("Control+/");
  await help.waitFor({ state: "detached" });
  await page.keyboard.press("a");
  await heading("Needs your attention").waitFor();
  await page.keyboard.press("Control+Shift+O");
  await isFocused(page.locator("#composer"));
  assert.equal(await page.locator("#composer").inputValue(), "");
  assert.equal(new URL(page.url()).pathname, "/");
});

test("the keyboard skips it", async () => {
  await page.goto("/knowledge");
  await heading("Knowledge").waitFor();
  await page.keyboard.press("Tab");
  await isFocused(page.getByRole("link", { name: "Skip to content" }));
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await isFocused(page.getByRole("button", { name: "New collection" }));
});

test("unsaved input is not lost to a new chat", async () => {
  await page.goto("/settings/profile");
  await profileName().fill("Ada King");
  const question = page.getByRole("dialog", { name: "Leave this page?" });
  for (const ask of [
    () => sidebar().getByRole("button", { name: "New chat" }).click(),
    () => page.keyboard.press("Control+Shift+O"),
    () => link("Chat 39").click(),
  ]) {
    await ask();
    await question.getByRole("button", { name: "Keep editing" }).click();
    assert.equal(await profileName().inputValue(), "Ada King");
  }
  await page.keyboard.press("Control+Shift+O");
  await question.getByRole("button", { name: "Discard" }).click();
  await page.waitForURL((address) => address.pathname === "/");
  await isFocused(page.locator("#composer"));
});

test("a chat is dragged onto a folder beside any page", async () => {
  await link("Knowledge").click();
  await heading("Knowledge").waitFor();
  const folder = sidebar().getByRole("button", { name: "Stars", exact: false }).first();
  await link("Chat 40").hover();
  await page.mouse.down();
  await folder.hover();
  await folder.hover();
  await sidebar().locator("li.target").waitFor();
  await page.mouse.up();
  await until("it is in the folder", async () => {
    const { chats } = await api("get", "/chats");
    return chats.find(({ title }) => title === "Chat 40")?.folder !== null;
  });
  await heading("Knowledge").waitFor();
});

test("between phone and desktop, the settings have room beside it", async () => {
  for (const width of [768, 900, 1024, 1100, 1180, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    for (const section of ["general", "models", "jobs", "usage"]) {
      await page.goto(`/settings/${section}`);
      await page.locator("main h1").waitFor();
      await page.locator("main .loading").waitFor({ state: "detached" });
      const room = await page.locator("main .column > header").evaluate((header) => header.clientWidth);
      assert.ok(room >= 560, `${width} px: ${room} px for ${section}`);
      const hidden = await page.locator("main").evaluate((main) => main.scrollWidth - main.clientWidth);
      assert.ok(hidden <= 0, `${width} px: ${section} is ${hidden} px too wide`);
    }
    await picture(`settings-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(page.complaints, []);
});

test("on a phone it is a drawer, opened in every page and closed by a choice", async () => {
  const { cookies } = await page.context().storageState();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    reducedMotion: "reduce",
  });
  const open = async () => {
    await phone.getByRole("button", { name: "Open sidebar" }).click();
    await sidebar(phone).waitFor();
  };
  const isClosed = () => sidebar(phone).waitFor({ state: "detached" });
  await phone.goto("/");
  for (const [name, go] of pages) {
    await open();
    await check(phone, `the drawer before ${name}`);
    await go(phone);
    await isClosed();
    await check(phone, `${name} on a phone`);
    await picture(`phone-${name}`, phone);
  }
  await open();
  await phone.keyboard.press("Escape");
  await isClosed();
  await open();
  await phone.touchscreen.tap(370, 500);
  await isClosed();
  await open();
  await picture("phone-drawer", phone);
  await link(/Show me around/, phone).click();
  await isClosed();
  await heading("Show me around", phone).waitFor();
  assert.deepEqual(phone.complaints, []);
  await phone.context().close();
});
