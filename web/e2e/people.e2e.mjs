/**
 * Two users at once with the real program: one is an administrator, the other is added, suspended while working, and
 * deleted.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { launch, openPage, until } from "./browser.mjs";
import { check } from "./axe.mjs";
import { actOn, callApi, bob as theOther, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, ada, bob;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  ada = await openPage(browser, { url: glasshouse.url });
  bob = await openPage(browser, { url: glasshouse.url, viewport: { width: 390, height: 844 } });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const row = (name) => ada.getByRole("main").getByRole("listitem").filter({ hasText: name });
const picture = async (page, name) => {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
};

test("an administrator adds a person, with the keyboard alone", async () => {
  await setUp(ada);
  await ada.goto("/settings/people");
  await row("Ada Lovelace").getByText("you", { exact: true }).waitFor();
  await ada.getByRole("button", { name: "Actions for Ada Lovelace" }).press("Enter");
  const own = await ada.getByRole("menuitem").allInnerTexts();
  assert.deepEqual(own, ["Give up admin role"], "nobody suspends themselves");
  await ada.keyboard.press("Escape");
  await ada.getByRole("button", { name: "Add with a password" }).press("Enter");
  await ada.getByLabel("Name").focus();
  for (const words of ["Bob Byte", "bob@example.org", "battery staple"]) {
    await ada.keyboard.type(words);
    await ada.keyboard.press("Tab");
  }
  await check(ada, "people");
  await picture(ada, "people-form");
  await ada.getByRole("button", { name: "Create account" }).press("Enter");
  await row("Bob Byte").waitFor();
  await check(ada, "people");
  await picture(ada, "people");
});

test("the person sees own things only, and no administration", async () => {
  await logIn(bob, theOther);
  await bob.locator("#composer").waitFor();
  await bob.goto("/settings/people");
  await bob.getByRole("heading", { name: "General", exact: true }).waitFor();
  await bob.getByRole("link", { name: "Settings", exact: true }).click();
  const links = bob.getByRole("navigation", { name: "Settings" }).getByRole("link");
  await links.first().waitFor();
  assert.deepEqual(await links.allInnerTexts(), [
    "General",
    "Account and security",
    "Personalization",
    "Tool permissions and sign-ins",
    "Schedules and webhooks",
    "API keys",
    "Usage and data",
  ]);
  assert.equal(await bob.getByText("Admin", { exact: true }).count(), 0);
  await bob.getByRole("combobox", { name: "Search settings" }).fill("audit");
  await bob.getByText("No matching settings").waitFor();
  assert.equal((await bob.request.get("/api/v1/users")).status(), 403);
});

test("whoever is suspended is out, and back in when let in again", async () => {
  await bob.goto("/");
  await bob.locator("#composer").waitFor();
  await ada.getByRole("button", { name: "Actions for Bob Byte" }).press("Enter");
  await check(ada, "actions of a person");
  await picture(ada, "people-menu");
  await ada.keyboard.press("Escape");
  await actOn(ada, "Bob Byte", "Suspend");
  await picture(ada, "people-confirm");
  await ada.getByRole("dialog").getByRole("button", { name: "Suspend" }).press("Enter");
  await row("Bob Byte").getByText("suspended since").waitFor();
  await picture(ada, "people-suspended");
  await bob.waitForURL("**/login*");
  await logIn(bob, theOther);
  await bob.getByText("This account is suspended").waitFor();
  await actOn(ada, "Bob Byte", "Reinstate");
  await row("Bob Byte").getByText("joined").waitFor();
  await bob.getByRole("button", { name: "Log in" }).click();
  await bob.locator("#composer").waitFor();
});

test("a person becomes an administrator, and the last one stays", async () => {
  await actOn(ada, "Ada Lovelace", "Give up admin role");
  const dialog = ada.getByRole("dialog", { name: "Give up admin role" });
  await dialog.waitFor();
  await ada.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  await actOn(ada, "Ada Lovelace", "Give up admin role");
  await dialog.getByRole("button", { name: "Give up admin role" }).press("Enter");
  await ada.getByText("This is the last administrator").waitFor();
  await row("Ada Lovelace").getByText("Administrator").waitFor();
  await actOn(ada, "Bob Byte", "Make administrator");
  await ada.getByRole("dialog").getByRole("button", { name: "Make administrator" }).press("Enter");
  await row("Bob Byte").getByText("Administrator").waitFor();
  await until("Bob is an administrator", async () => (await bob.request.get("/api/v1/users")).ok());
  await bob.goto("/settings/people");
  await bob.getByRole("button", { name: "Actions for Ada Lovelace" }).click();
  await bob.getByRole("menuitem", { name: "Suspend" }).waitFor();
  await check(bob, "people");
  await picture(bob, "people-phone");
  await actOn(ada, "Bob Byte", "Make regular user");
  await ada.getByRole("dialog").getByRole("button", { name: "Make regular user" }).press("Enter");
  await row("Bob Byte").getByText("Administrator").waitFor({ state: "detached" });
});

test("names and addresses have room on a phone, in Russian too", async () => {
  const page = await openPage(browser, {
    url: glasshouse.url,
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    preferences: { theme: "dark", language: "ru" },
  });
  await page.context().addCookies(await ada.context().cookies());
  await callApi(ada, glasshouse.url, "post", "/groups", { name: "Отдел продаж" });
  await page.goto("/settings/people");
  const bobs = page.getByRole("list", { name: "Люди" }).getByRole("listitem").filter({ hasText: "Bob Byte" });
  for (const words of ["Bob Byte", theOther.email]) {
    const { height } = await bobs.getByText(words, { exact: true }).boundingBox();
    assert.ok(height < 30, `${words} is on one line`);
  }
  await check(page, "people in Russian");
  await picture(page, "people-phone-ru");
  await page.getByRole("button", { name: "Действия: Bob Byte" }).tap();
  await page.getByRole("menuitem", { name: "Сделать администратором" }).waitFor();
  await picture(page, "people-menu-phone-ru");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Пригласить" }).tap();
  await page
    .getByLabel("Адреса почты")
    .fill(`Евгения <evgenia@example.org>, ${theOther.email}; константин@пример.рф`);
  await page.getByText(`Учётная запись уже есть: ${theOther.email}`).waitFor();
  await page.getByRole("checkbox", { name: "Отдел продаж" }).tap();
  await check(page, "an invitation in Russian");
  await picture(page, "invite-phone-ru");
  await page.getByRole("button", { name: "Создать 2 ссылки" }).tap();
  await page.getByRole("button", { name: "Скопировать все" }).waitFor();
  await check(page, "links of invitations in Russian");
  await picture(page, "invite-links-phone-ru");
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${over}px too wide`);
  await page.getByRole("button", { name: "Готово" }).tap();
  await page.getByRole("button", { name: "Отозвать: evgenia@example.org" }).waitFor();
  await page.getByText("Группы: Отдел продаж").first().waitFor();
  await picture(page, "invite-pending-phone-ru");
  await page.context().close();
});

test("a suspended account is deleted", async () => {
  await actOn(ada, "Bob Byte", "Suspend");
  await ada.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await row("Bob Byte").getByText("suspended since").waitFor();
  await actOn(ada, "Bob Byte", "Delete");
  await ada.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row("Bob Byte").waitFor({ state: "detached" });
  await logIn(bob, theOther);
  await bob.getByText("Wrong email or password.").waitFor();
});
