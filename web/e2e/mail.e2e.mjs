/** The mail server is set up and tested, and invitations are sent by it, with the real program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { ada as person, callApi, logIn, setUp } from "./people.mjs";
import { freePort, startGlasshouse } from "./programs.mjs";
import { bodyOf, startSmtp } from "./smtp.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, smtp, ada;

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const picture = async (page, name) => {
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `${name}.png`) });
};

test.beforeAll(async () => {
  [browser, glasshouse, smtp] = await Promise.all([launch(), startGlasshouse(), startSmtp()]);
  ada = await openPage(browser, { url: glasshouse.url });
  await setUp(ada);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await smtp?.stop();
});

const field = (name, page = ada) => page.getByLabel(name, { exact: true });
const press = (name) => ada.getByRole("button", { name, exact: true }).click();

/** Another look at the page, signed in as the administrator. */
async function look(path, name, options, ready) {
  const page = await openPage(browser, { url: glasshouse.url, ...options });
  await page.context().addCookies(await ada.context().cookies());
  await page.goto(path);
  await ready(page);
  await check(page, name);
  await picture(page, name);
  await page.context().close();
}

test("without a mail server, the dialog of invitations leads to its form and keeps the addresses", async () => {
  await ada.goto("/settings/people");
  await ada.getByRole("button", { name: "Invite people" }).click();
  await ada.keyboard.insertText("bob@example.org, refused@example.org");
  const dialog = ada.getByRole("dialog", { name: "Invite people" });
  await dialog.getByText("No email is sent").waitFor();
  await check(ada, "an invitation without mail");
  await picture(ada, "mail-invite-none");
  await dialog.getByRole("link", { name: "Set up email" }).click();
  await ada.waitForURL("**/settings/mail");
});

test("what is wrong is shown at its field, and the reason of the server at the form", async () => {
  await field("Mail server").fill("not a host");
  await press("Send test email");
  await ada.getByText("Enter a host name such as smtp.example.org").waitFor();
  await ada.getByText("Enter an address such as ai@example.org").waitFor();
  await check(ada, "mail with errors");
  await field("Mail server").fill("smtps://smtp.example.org:465");
  await field("User name").fill("ai@example.org");
  await hasValue(field("Sender"), "ai@example.org");
  await hasValue(field("Mail server"), "smtp.example.org:465");
  await hasValue(field("Encryption"), "tls");
  await field("Mail server").fill("127.0.0.1:1");
  await field("Encryption").selectOption("None");
  await ada.getByText("sent unencrypted").waitFor();
  await field("Password").fill("canary-9");
  await press("Send test email");
  await ada
    .getByRole("alert")
    .getByText(/^The mail was not sent: /)
    .waitFor();
  await check(ada, "mail that was not sent");
  await picture(ada, "mail-failed");
});

test("a test email arrives before anything is stored, then the settings are saved", async () => {
  await field("Mail server").fill(smtp.address);
  await field("Sender").fill("Glasshouse <ai@example.org>");
  await press("Send test email");
  await ada.getByText("Test email sent to ada@example.org.").waitFor();
  await picture(ada, "mail-tested");
  const [mail] = smtp.mails;
  assert.deepEqual(
    [mail.to, mail.from, mail.login],
    ["ada@example.org", "ai@example.org", ["ai@example.org", "canary-9"]],
  );
  assert.equal((await callApi(ada, glasshouse.url, "get", "/invitations")).can_send_mail, false);
  await press("Save");
  await ada.getByText("Saved").waitFor();
  await ada.reload();
  await hasValue(field("Mail server"), smtp.address);
  await hasValue(field("Password"), "");
  assert.ok(!(await ada.content()).includes("canary-9"));
  // The stored password is used.
  await press("Send test email");
  await ada.getByText("Test email sent to ada@example.org.").waitFor();
  assert.deepEqual(smtp.mails[1].login, ["ai@example.org", "canary-9"]);
  const russian = { ...phone, preferences: { theme: "dark", language: "ru" } };
  const ready = (page) => page.getByRole("button", { name: "Отправить тестовое письмо" }).waitFor();
  await look("/settings/mail", "mail-phone-dark-ru", russian, ready);
  const arabic = { preferences: { theme: "light", language: "ar" } };
  await look("/settings/mail", "mail-ar", arabic, (page) => page.locator("[name=mail-server]").waitFor());
});

test("invitations are sent by mail, and a refused address shows the reason", async () => {
  smtp.mails.length = 0;
  await ada.goto("/settings/people");
  await ada.getByRole("button", { name: "Invite people" }).click();
  const dialog = ada.getByRole("dialog", { name: "Invite people" });
  assert.ok(await dialog.getByRole("checkbox", { name: "Send the links by email" }).isChecked());
  await ada.keyboard.insertText("bob@example.org, refused@example.org");
  await check(ada, "an invitation by mail");
  await picture(ada, "mail-invite");
  await dialog.getByRole("button", { name: "Send 2 invitations" }).click();
  await dialog.getByText("1 of 2 invitations sent.").waitFor();
  await dialog.getByText("Email sent").waitFor();
  await dialog.getByText(/The mail was not sent: .*550/).waitFor();
  await check(ada, "invitations that were sent");
  await picture(ada, "mail-invite-sent");
  await dialog.getByRole("button", { name: "Copy link: bob@example.org" }).click();
  const link = await ada.evaluate(() => navigator.clipboard.readText());
  assert.deepEqual(
    smtp.mails.map(({ to }) => to),
    ["bob@example.org"],
  );
  assert.ok(bodyOf(smtp.mails[0]).includes(link), bodyOf(smtp.mails[0]));
  await dialog.getByRole("button", { name: "Copy link: refused@example.org" }).waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
});

test("the mail is in the page's language, on a phone too", async () => {
  const page = await openPage(browser, {
    url: glasshouse.url,
    ...phone,
    preferences: { theme: "dark", language: "ru" },
  });
  await page.context().addCookies(await ada.context().cookies());
  await page.goto("/settings/people");
  await page.getByRole("button", { name: "Пригласить" }).first().tap();
  await page.getByRole("checkbox", { name: "Отправить ссылки по почте" }).waitFor();
  await page.locator("dialog textarea").fill("carol@example.org, refused@example.org");
  await check(page, "an invitation by mail on a phone");
  await picture(page, "mail-invite-phone-dark-ru");
  await page.getByRole("button", { name: "Отправить 2 приглашения" }).tap();
  await page.getByText("Письмо отправлено").waitFor();
  await check(page, "invitations that were sent on a phone");
  await picture(page, "mail-invite-sent-phone-dark-ru");
  assert.match(bodyOf(smtp.mails.at(-1)), /[а-яё]{4}/i);
  await page.context().close();
});

test("mail is turned off, and on again", async () => {
  await ada.goto("/settings/mail");
  await press("Turn off");
  await ada.getByText("Mail turned off").waitFor();
  await hasValue(field("Mail server"), "");
  assert.equal((await callApi(ada, glasshouse.url, "get", "/invitations")).can_send_mail, false);
  await press("Undo");
  await hasValue(field("Mail server"), smtp.address);
  assert.equal((await callApi(ada, glasshouse.url, "get", "/invitations")).can_send_mail, true);
  const refusal = "422 (Unprocessable Entity)";
  assert.deepEqual(
    ada.complaints.filter((text) => !text.includes(refusal)),
    [],
  );
});

test("what the environment sets is shown with its source, and the rest can be changed", async () => {
  const env = {
    GLASSHOUSE_MAIL_SERVER: smtp.address,
    GLASSHOUSE_MAIL_SECURITY: "none",
    GLASSHOUSE_MAIL_FROM: "ai@example.org",
  };
  const other = await startGlasshouse(env);
  try {
    const page = await openPage(browser, { url: other.url });
    await setUp(page);
    await page.goto("/settings/mail");
    await hasValue(field("Mail server", page), smtp.address);
    assert.ok(await field("Mail server", page).isDisabled());
    assert.ok(await field("User name", page).isEnabled());
    assert.equal(await page.getByRole("button", { name: "Turn off" }).count(), 0);
    await page.getByRole("button", { name: "Send test email" }).click();
    await page.getByText("Test email sent to ada@example.org.").waitFor();
    await check(page, "mail of the environment");
    await picture(page, "mail-environment");
    await page.context().close();
  } finally {
    await other.stop();
  }
});

test("a forgotten password is replaced by a link from a mail", async () => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    GLASSHOUSE_PUBLIC_URL: origin,
    GLASSHOUSE_MAIL_SERVER: smtp.address,
    GLASSHOUSE_MAIL_SECURITY: "none",
    GLASSHOUSE_MAIL_FROM: "ai@example.org",
  };
  const other = await startGlasshouse(env, port);
  try {
    const page = await openPage(browser, { url: origin });
    // Others may reach it, so its first account takes the link that it prints.
    await setUp(page, person, other.url);
    await page.context().clearCookies();
    smtp.mails.length = 0;
    await page.goto("/login");
    await page.getByText("Forgot your password?").click();
    const send = page.getByRole("button", { name: "Email me a link" });
    await send.click();
    assert.equal(await page.evaluate(() => document.activeElement.type), "email");
    for (const email of ["nobody@example.org", person.email]) {
      await field("Email", page).fill(email);
      await send.click();
      await page.getByText(`If ${email} has an account with a password`).waitFor();
    }
    await check(page, "a link was requested");
    await picture(page, "mail-forgotten");
    await until("the mail", () => smtp.mails.length > 0);
    assert.deepEqual(
      smtp.mails.map(({ to }) => to),
      [person.email],
    );
    const [link] = /http:\S+/.exec(bodyOf(smtp.mails[0]));
    assert.ok(link.startsWith(`${origin}/reset#`), link);
    await page.goto(link);
    await field("New password", page).fill("another horse");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("Password changed.").waitFor();
    await logIn(page, { ...person, password: "another horse" });
    await page.context().close();
  } finally {
    await other.stop();
  }
});
