/** Accounts with the real program: invitation, open sign-up, password reset, and signing out everywhere. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, isAsked, launch, openPage } from "./browser.mjs";
import { actOn, callApi, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, ada, bob, carol;

const picture = async (page, name) => {
  if (process.env.PICTURES)
    await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`), fullPage: true });
};

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  const phone = { width: 390, height: 844 };
  const dark = { theme: "dark", language: "ru" };
  ada = await openPage(browser, { url: glasshouse.url });
  bob = await openPage(browser, { url: glasshouse.url, viewport: phone });
  carol = await openPage(browser, { url: glasshouse.url, viewport: phone, preferences: dark });
  await setUp(ada);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

async function fill(page, fields) {
  for (const [label, words] of Object.entries(fields))
    await page.getByLabel(label, { exact: true }).fill(words);
}

async function logIn(page, email, password) {
  await page.goto("/login");
  await fill(page, { Email: email, Password: password });
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

/** The link that the page shows once. */
const link = () => ada.getByRole("status").locator("code").innerText();

test("nobody signs up where it is closed", async () => {
  await bob.goto("/login");
  await bob.getByLabel("Email").waitFor();
  assert.equal(await bob.getByRole("link", { name: "Create an account" }).count(), 0);
  await bob.goto("/sign-up");
  await bob.getByText("You need an invitation to create an account here.").waitFor();
  await check(bob, "sign-up, closed");
});

test("who is invited makes an account, once", async () => {
  const finance = await callApi(ada, glasshouse.url, "post", "/groups", { name: "Finance" });
  await callApi(ada, glasshouse.url, "post", "/groups", { name: "Sales" });
  await ada.goto("/settings/people");
  await ada.getByRole("radio", { name: "Closed" }).and(ada.locator(":checked")).waitFor();
  await picture(ada, "doors-people");
  // Three clicks from the page: open, create, copy.
  await ada.getByRole("button", { name: "Invite people" }).click();
  const dialog = ada.getByRole("dialog", { name: "Invite people" });
  const addresses = dialog.getByLabel("Email addresses");
  await dialog.getByText("Creating a link turns on sign-up by invitation.").waitFor();
  await ada.keyboard.insertText(
    "Bob Byte <bob@example.org>, ADA@example.org\ndan@example.org bob@example.org nobody",
  );
  await dialog.getByText("Already has an account: ADA@example.org").waitFor();
  await dialog.getByText("Entered more than once: bob@example.org").waitFor();
  await dialog.getByRole("button", { name: "Create 2 links" }).click();
  await dialog.getByText("Not an email address: nobody").waitFor();
  await check(ada, "an invitation");
  await picture(ada, "invite");
  await dialog.getByLabel("Role").selectOption("Administrator");
  await dialog.getByText("Administrators also manage").waitFor();
  await check(ada, "an invitation of administrators");
  await picture(ada, "invite-admin");
  await dialog.getByLabel("Role").selectOption("User");
  await dialog.getByRole("checkbox", { name: "Finance" }).check();
  // Escape asks before it discards what was typed.
  await addresses.press("Escape");
  await dialog.getByRole("button", { name: "Keep editing" }).press("Enter");
  await addresses.fill((await addresses.inputValue()).replace("nobody", ""));
  await dialog.getByRole("button", { name: "Create 2 links" }).click();
  await dialog.getByText("Sign-up by invitation is now on.").waitFor();
  await check(ada, "links of invitations");
  await picture(ada, "invite-links");
  await dialog.getByRole("button", { name: "Copy all" }).click();
  const copied = await ada.evaluate(() => navigator.clipboard.readText());
  assert.deepEqual(
    copied.split("\n").map((line) => line.split(" ")[0]),
    ["bob@example.org", "dan@example.org"],
  );
  await dialog.getByRole("button", { name: "Copy link: bob@example.org" }).click();
  const invitation = await ada.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.includes(invitation) && invitation.startsWith(`${glasshouse.url}/sign-up#`));
  await dialog.getByRole("button", { name: "Done" }).click();
  await ada.getByRole("radio", { name: "By invitation" }).and(ada.locator(":checked")).waitFor();
  await ada.getByRole("button", { name: "Copy link: dan@example.org" }).waitFor();
  await ada
    .getByRole("listitem")
    .filter({ hasText: "dan@example.org" })
    .getByText("Groups: Finance")
    .waitFor();
  await check(ada, "people with invitations");
  await picture(ada, "invite-pending");

  await bob.goto(invitation);
  await hasValue(bob.getByLabel("Email"), "bob@example.org");
  await fill(bob, { Name: "Bob Byte", Password: "short" });
  await bob.getByRole("button", { name: "Create account" }).click();
  await bob.getByText("Use at least 8 characters.").waitFor();
  await check(bob, "sign-up");
  await picture(bob, "doors-sign-up-phone");
  await bob.getByLabel("Password").fill("battery staple");
  await bob.getByRole("button", { name: "Create account" }).click();
  await bob.locator("#composer").waitFor();
  const { users } = await callApi(ada, glasshouse.url, "get", "/users");
  const { role, groups } = users.find(({ email }) => email === "bob@example.org");
  assert.deepEqual({ role, groups }, { role: "user", groups: [finance.id] });

  await carol.goto(invitation);
  await carol.getByText("Приглашение уже использовано").waitFor();
  await check(carol, "an invitation that is used up");
  await picture(carol, "doors-sign-up-over-phone-dark-ru");
  await ada.reload();
  await ada.getByText("1 used or expired").click();
  await ada
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: "used" })
    .getByText("bob@example.org")
    .waitFor();
  // The server shows a link once; a new one takes its place.
  assert.equal(await ada.getByRole("button", { name: "Copy link: dan@example.org" }).count(), 0);
  await isAsked(ada.getByRole("button", { name: "New link: dan@example.org" }), "New link");
  assert.match(await link(), /\/sign-up#/);
  await ada.getByRole("button", { name: "Copy link: dan@example.org" }).waitFor();
  await ada
    .getByRole("listitem")
    .filter({ hasText: "dan@example.org" })
    .getByText("Groups: Finance")
    .waitFor();
  const takeBack = ada.getByRole("button", { name: "Revoke: dan@example.org" });
  await isAsked(takeBack, "Revoke");
  await takeBack.waitFor({ state: "detached" });
});

test("an administrator is invited, and their link is replaced", async () => {
  await ada.getByRole("button", { name: "Invite people" }).click();
  const dialog = ada.getByRole("dialog", { name: "Invite people" });
  await ada.keyboard.insertText("grace@example.org");
  await dialog.getByLabel("Role").selectOption("Administrator");
  for (const name of ["Finance", "Sales"]) await dialog.getByRole("checkbox", { name }).check();
  await dialog.getByRole("button", { name: "Create link" }).click();
  await dialog.getByText("Administrator · Groups: Finance, Sales").waitFor();
  const first = await dialog.locator("code").innerText();
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = ada.getByRole("listitem").filter({ hasText: "grace@example.org" });
  await row.getByText("Administrator · Groups: Finance, Sales").waitFor();
  await check(ada, "a pending invitation of an administrator");
  await picture(ada, "invite-admin-pending");
  await isAsked(ada.getByRole("button", { name: "New link: grace@example.org" }), "New link");
  await ada.getByText("New link for grace@example.org").waitFor();
  const second = await link();
  assert.notEqual(first, second);

  const grace = await openPage(browser, { url: glasshouse.url });
  await grace.goto(first);
  await grace.getByText("This invitation was used").waitFor();
  await grace.goto("about:blank");
  await grace.goto(second);
  await hasValue(grace.getByLabel("Email"), "grace@example.org");
  await fill(grace, { Name: "Grace Hopper", Password: "battery staple" });
  await grace.getByRole("button", { name: "Create account" }).click();
  await grace.locator("#composer").waitFor();
  await grace.goto("/settings/people");
  const own = grace.getByRole("list", { name: "People" }).getByRole("listitem").filter({ hasText: "Grace" });
  await own.getByText("Administrator").waitFor();
  await own.getByText("Groups: Finance, Sales").waitFor();
  await grace.context().close();
  await ada.reload();
});

test("people see where they are signed in, and log out elsewhere", async () => {
  const elsewhere = await openPage(browser, { url: glasshouse.url });
  await logIn(elsewhere, "bob@example.org", "battery staple");
  await elsewhere.locator("#composer").waitFor();
  await bob.goto("/settings/sessions");
  await bob.getByText("this browser").waitFor();
  await bob.getByText("from 127.0.0.1").first().waitFor();
  assert.equal(await bob.getByText("Chrome on Linux").count(), 2);
  await check(bob, "sessions");
  await picture(bob, "doors-sessions-phone");
  await isAsked(bob.getByRole("button", { name: "Log out: Chrome on Linux" }), "Log out");
  await bob.getByRole("button", { name: "Log out everywhere else" }).waitFor({ state: "detached" });
  // Its open stream has ended, and its next request is rejected.
  await elsewhere.waitForURL("**/login*");
  await logIn(elsewhere, "bob@example.org", "battery staple");
  await elsewhere.locator("#composer").waitFor();
  await elsewhere.goto("/settings/sessions");
  await elsewhere.getByRole("button", { name: "Log out everywhere else" }).press("Enter");
  await picture(elsewhere, "doors-sessions-confirm");
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Log out everywhere else" }).press("Enter");
  await elsewhere.getByText("Other sessions logged out.").waitFor();
  await bob.waitForURL("**/login*");
  await elsewhere.getByRole("button", { name: "Log out everywhere" }).click();
  await elsewhere.getByRole("dialog").getByRole("button", { name: "Log out everywhere" }).click();
  await elsewhere.waitForURL("**/login*");
  await elsewhere.context().close();
});

test("whoever forgot the password gets a link to a new one", async () => {
  await ada.reload();
  await actOn(ada, "Bob Byte", "Reset password");
  const reset = await link();
  await picture(ada, "doors-reset-link");
  await bob.goto(reset);
  await bob.getByLabel("New password").fill("another staple");
  await hasValue(bob.getByLabel("Email"), "bob@example.org");
  await check(bob, "a new password");
  await picture(bob, "doors-reset-phone");
  await bob.getByRole("button", { name: "Change password" }).click();
  await bob.waitForURL("**/login");
  await logIn(bob, "bob@example.org", "another staple");
  await bob.locator("#composer").waitFor();
  await carol.goto(reset);
  await carol.getByText("Ссылка устарела или уже использована").waitFor();
});

test("where everybody may, a person makes an account, and nobody another's", async () => {
  const kept = ada.waitForResponse((answer) => answer.request().method() === "PUT");
  await ada.getByRole("radio", { name: "Open" }).check();
  await kept;
  await carol.goto("/login");
  await carol.getByRole("link", { name: "Создать учётную запись" }).click();
  await fill(carol, { Имя: "Карл", "Эл. почта": "ada@example.org", Пароль: "чужой пароль" });
  await check(carol, "open sign-up");
  await carol.getByRole("button", { name: "Создать учётную запись" }).click();
  await carol.getByText("Не удалось войти с этим паролем").waitFor();
  await picture(carol, "doors-open-phone-dark-ru");
  await carol.getByLabel("Эл. почта").fill("carol@example.org");
  await carol.getByRole("button", { name: "Создать учётную запись" }).click();
  await carol.locator("#composer").waitFor();
  await carol.goto("/settings/sessions");
  await carol.getByText("этот браузер", { exact: true }).waitFor();
  await picture(carol, "doors-sessions-phone-dark-ru");
});
