/**
 * Two users at once with the real program: one is an administrator, the other is added, suspended while working, and
 * deleted.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { check } from "./axe.mjs";
import { bob as theOther, logIn, setUp } from "./people.mjs";
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
  assert.equal(await row("Ada Lovelace").getByRole("button").count(), 0, "nobody suspends themselves");
  await ada.getByRole("button", { name: "Add person" }).press("Enter");
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
  await ada.getByRole("button", { name: "Suspend: Bob Byte" }).press("Enter");
  await picture(ada, "people-confirm");
  await ada.getByRole("dialog").getByRole("button", { name: "Suspend" }).press("Enter");
  await row("Bob Byte").getByText("suspended since").waitFor();
  await picture(ada, "people-suspended");
  await bob.waitForURL("**/login*");
  await logIn(bob, theOther);
  await bob.getByText("This account is suspended").waitFor();
  await ada.getByRole("button", { name: "Reinstate: Bob Byte" }).press("Enter");
  await row("Bob Byte").getByText("joined").waitFor();
  await bob.getByRole("button", { name: "Log in" }).click();
  await bob.locator("#composer").waitFor();
});

test("a person becomes an administrator, and the last one stays", async () => {
  const own = ada.getByLabel("Role of Ada Lovelace");
  await own.selectOption("user");
  await ada.getByRole("dialog", { name: "Give up admin role" }).waitFor();
  await ada.keyboard.press("Escape");
  await hasValue(own, "admin");
  await own.selectOption("user");
  await ada.getByRole("button", { name: "Give up admin role" }).press("Enter");
  await ada.getByText("This is the last administrator").waitFor();
  await hasValue(own, "admin");
  await ada.getByLabel("Role of Bob Byte").selectOption("admin");
  await until("Bob is an administrator", async () => (await bob.request.get("/api/v1/users")).ok());
  await bob.goto("/settings/people");
  await bob.getByRole("button", { name: "Suspend: Ada Lovelace" }).waitFor();
  await check(bob, "people");
  await picture(bob, "people-phone");
  await ada.getByLabel("Role of Bob Byte").selectOption("user");
});

test("a suspended account is deleted", async () => {
  await ada.getByRole("button", { name: "Suspend: Bob Byte" }).click();
  await ada.getByRole("dialog").getByRole("button", { name: "Suspend" }).click();
  await ada.getByRole("button", { name: "Delete: Bob Byte" }).click();
  await ada.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row("Bob Byte").waitFor({ state: "detached" });
  await logIn(bob, theOther);
  await bob.getByText("Wrong email or password.").waitFor();
});
