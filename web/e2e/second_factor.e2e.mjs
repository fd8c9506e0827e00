/**
 * Two-step sign-in with the real program: set up with an authenticator code, requested at sign-in, and turned off
 * again.
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { copiedBy, launch, openPage } from "./browser.mjs";
import { actOn } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const ada = { email: "ada@example.org", password: "correct horse" };
const bob = { email: "bob@example.org", name: "Bob Brown", password: "battery staple", role: "user" };
const stepMs = 30_000;
let browser, glasshouse, page, secret, recoveryCodes, usedCode;
/** Codes of this time step and earlier ones are used up. */
let usedStep = 0;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await page.goto("/");
  await page.waitForURL("**/setup");
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByLabel("Email").fill(ada.email);
  await page.getByLabel("Password").fill(ada.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.waitForURL("**/welcome");
  const headers = { origin: glasshouse.url };
  await page.request.post(`${glasshouse.url}/api/v1/users`, { data: bob, headers });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

/** The authenticator's code (RFC 6238) for the first unused time step. The server accepts one that is early. */
function nextCode() {
  const bits = [...secret].map((sign) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(sign).toString(2).padStart(5, "0"),
  );
  const key = Buffer.from(
    bits
      .join("")
      .match(/.{8}/g)
      .map((byte) => parseInt(byte, 2)),
  );
  usedStep = Math.max(usedStep + 1, Math.floor(Date.now() / stepMs));
  const counter = Buffer.alloc(8);
  counter.writeBigInt64BE(BigInt(usedStep));
  const tag = createHmac("sha1", key).update(counter).digest();
  const number = tag.readUInt32BE(tag[19] & 0xf) & 0x7fffffff;
  usedCode = String(number % 1_000_000).padStart(6, "0");
  return usedCode;
}

/** Waits until the next code is acceptable to the server: at most one time step early. */
async function codeInTime() {
  const code = nextCode();
  const waitMs = (usedStep - 1) * stepMs - Date.now();
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs + 100));
  return code;
}

async function picture(of, name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  for (const colorScheme of ["light", "dark"]) {
    await of.emulateMedia({ colorScheme });
    for (const [size, width, height] of [
      ["desktop", 1280, 860],
      ["phone", 390, 844],
    ]) {
      await of.setViewportSize({ width, height });
      await of.screenshot({ path: `${folder}/${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
  }
  await of.emulateMedia({ colorScheme: null });
  await of.setViewportSize({ width: 1440, height: 900 });
}

/** Whether nothing is wider than a phone's screen. */
async function fitsPhones(of) {
  await of.setViewportSize({ width: 360, height: 740 });
  assert.equal(await of.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  await of.setViewportSize({ width: 1440, height: 900 });
}

async function firstStep(who, at = "/settings/two-step") {
  const own = await openPage(browser, { url: glasshouse.url });
  await own.goto(`/login?next=${encodeURIComponent(at)}`);
  await own.getByLabel("Email").fill(who.email);
  await own.getByLabel("Password").fill(who.password);
  await own.keyboard.press("Enter");
  return own;
}

/** Enables two-step sign-in; returns the recovery codes. */
async function setUp(own, who) {
  await own.goto("/settings/two-step");
  await own.getByRole("button", { name: "Set up" }).click();
  const dialog = own.getByRole("dialog", { name: "Set up" });
  await dialog.getByLabel("Password").fill(who.password);
  await own.keyboard.press("Enter");
  await own.getByRole("img", { name: "QR code for the app" }).waitFor();
  secret = (await own.locator(".typed code").textContent()).replaceAll(" ", "");
  usedStep = 0;
}

test("a wrong password and a wrong code turn nothing on", async () => {
  await page.goto("/settings/two-step");
  await page.getByRole("button", { name: "Set up" }).click();
  const dialog = page.getByRole("dialog", { name: "Set up" });
  await dialog.getByLabel("Password").fill("not it");
  await page.keyboard.press("Enter");
  await dialog.getByText("Wrong password.").waitFor();
  await check(page, "asked for the password");
  await page.keyboard.press("Escape");
  await setUp(page, ada);
  await page.getByLabel("Code from the app").fill("000 00");
  await page.keyboard.press("Enter");
  await page.getByText("Wrong code. Wait for the next one").waitFor();
  await check(page, "setting it up");
  await fitsPhones(page);
  await picture(page, "set-up");
  await page.getByRole("button", { name: "Cancel" }).click();
  const other = await firstStep(ada, "/");
  await other.getByRole("textbox", { name: "Message" }).waitFor();
});

test("a code of the app turns it on, and recovery codes are shown once", async () => {
  await setUp(page, ada);
  await page.getByLabel("Code from the app").fill(nextCode());
  await page.keyboard.press("Enter");
  const codes = page.getByRole("status").locator("li code");
  await codes.nth(9).waitFor();
  recoveryCodes = await codes.allTextContents();
  assert.equal(new Set(recoveryCodes).size, 10);
  await check(page, "recovery codes");
  await fitsPhones(page);
  await picture(page, "recovery-codes");
  const copied = await copiedBy(page.getByRole("button", { name: "Copy all" }));
  assert.equal(copied, recoveryCodes.join("\n"));
  await page.getByRole("button", { name: "I’ve saved them" }).click();
  await page.getByText("10 recovery codes are left.").waitFor();
  await check(page, "it is on");
  await picture(page, "on");
  await page.reload();
  await page.getByText("10 recovery codes are left.").waitFor();
  assert.equal(await page.getByText(recoveryCodes[0]).count(), 0);
});

test("the sign-in asks for a code that was not used yet", async () => {
  const own = await firstStep(ada);
  await own.getByRole("heading", { name: "One more step" }).waitFor();
  const field = own.getByLabel("Code from the app");
  await own.locator(":focus").and(field).waitFor();
  await check(own, "the second step");
  await fitsPhones(own);
  await picture(own, "second-step");
  // The password alone grants no access.
  assert.equal((await own.request.get(`${glasshouse.url}/api/v1/chats`)).status(), 401);
  await field.fill(usedCode);
  await own.keyboard.press("Enter");
  await own.getByRole("alert").getByText("The code is wrong or was already used.").waitFor();
  await field.fill(await codeInTime());
  await own.keyboard.press("Enter");
  await own.waitForURL("**/settings/two-step");
  await own.getByText("10 recovery codes are left.").waitFor();
  await own.context().close();
});

test("a recovery code does in its place, once", async () => {
  const enter = async (own) => {
    await own.getByRole("button", { name: "Use a recovery code" }).click();
    await own.getByLabel("Recovery code").fill(recoveryCodes[0]);
    await own.keyboard.press("Enter");
  };
  const own = await firstStep(ada);
  await own.getByRole("heading", { name: "One more step" }).waitFor();
  await enter(own);
  await own.getByText("9 recovery codes are left.").waitFor();
  const again = await firstStep(ada);
  await again.getByRole("heading", { name: "One more step" }).waitFor();
  await enter(again);
  await again.getByRole("alert").getByText("The code is wrong or was already used.").waitFor();
  await picture(again, "recovery-code");
  await again.getByRole("button", { name: "Start over" }).click();
  await again.getByLabel("Password").waitFor();
  await own.context().close();
  await again.context().close();
});

test("an administrator turns it off for somebody else, whose sessions end", async () => {
  const own = await firstStep(bob);
  await own.waitForURL("**/settings/two-step");
  await setUp(own, bob);
  await own.getByLabel("Code from the app").fill(nextCode());
  await own.keyboard.press("Enter");
  await own.getByRole("button", { name: "I’ve saved them" }).click();
  await page.goto("/settings/people");
  await actOn(page, "Bob Brown", "Turn off two-step sign-in");
  await check(page, "people");
  await picture(page, "people");
  await page.getByRole("dialog").getByRole("button", { name: "Turn off two-step sign-in" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const row = page.getByRole("main").getByRole("listitem").filter({ hasText: "Bob Brown" });
  await row.getByText("two-step sign-in").waitFor({ state: "detached" });
  await own.goto("/settings/two-step");
  await own.waitForURL("**/login**");
  const again = await firstStep(bob, "/");
  await again.getByRole("textbox", { name: "Message" }).waitFor();
});

test("it is turned off with the password, in Russian too", async () => {
  await page.evaluate(() => localStorage.setItem("glasshouse.preferences", '{"language":"ru"}'));
  await page.goto("/settings/two-step");
  await page.getByText("Осталось 9 резервных кодов.").waitFor();
  await picture(page, "on-ru");
  await page.getByRole("button", { name: "Выключить двухфакторный вход" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Пароль").fill(ada.password);
  await dialog.getByRole("button", { name: "Выключить двухфакторный вход" }).click();
  await page.getByText("Двухфакторный вход выключен.").waitFor();
  await page.getByRole("button", { name: "Настроить" }).waitFor();
  const own = await firstStep(ada, "/");
  await own.getByRole("textbox", { name: "Message" }).waitFor();
  // One request was rejected on purpose, which the browser logs.
  assert.deepEqual(
    page.complaints.filter((words) => !/status of 4\d\d/.test(words)),
    [],
  );
});
