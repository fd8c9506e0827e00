/** Passkeys with the real program and Chromium's virtual authenticator: created, used, cloned and removed. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { actOn, ada, bob, addPerson, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, url, page, device;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  // Passkeys require a host name.
  url = glasshouse.url.replace("127.0.0.1", "localhost");
  page = await openPage(browser, { url });
  device = await plugIn(page);
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

/** Adds a virtual authenticator that always consents. */
async function plugIn(own) {
  const cdp = await own.context().newCDPSession(own);
  await cdp.send("WebAuthn.enable");
  const { authenticatorId } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { send: (method, more = {}) => cdp.send(`WebAuthn.${method}`, { authenticatorId, ...more }) };
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
      await of.screenshot({ path: `${folder}/passkeys-${name}-${colorScheme}-${size}.png`, fullPage: true });
    }
  }
  await of.emulateMedia({ colorScheme: null });
  await of.setViewportSize({ width: 1440, height: 900 });
}

const passkeys = (own) => own.getByRole("region", { name: "Passkeys" });

async function make(own, name, password) {
  await own.goto("/settings/passkeys");
  await passkeys(own).getByLabel("Name", { exact: true }).fill(name);
  await own.getByRole("button", { name: "Add passkey" }).click();
  const dialog = own.getByRole("dialog", { name: "Add passkey" });
  await dialog.getByLabel("Password").fill(password);
  await own.keyboard.press("Enter");
}

/** Ends the session, so that the page asks for sign-in. */
async function leave(own) {
  await own.request.post(`${url}/api/v1/logout`, { headers: { origin: url } });
  await own.goto("/login");
}

test("without a passkey anywhere there is no button for one", async () => {
  const other = await openPage(browser, { url });
  await other.goto("/login");
  await other.getByRole("button", { name: "Log in", exact: true }).waitFor();
  assert.equal(await other.getByRole("button", { name: "Log in with a passkey" }).count(), 0);
  await other.context().close();
});

test("one is made with the password", async () => {
  await make(page, "Laptop", "not it");
  await page.getByText("Wrong password.").waitFor();
  await page.keyboard.press("Escape");
  await make(page, "Laptop", ada.password);
  await page.getByText("Passkey added.").waitFor();
  await page.getByText(/never used/).waitFor();
  await check(page, "passkeys");
  await picture(page, "settings");
  await make(page, "Once more", ada.password);
  await page.getByText("This device already has your passkey for this server.").waitFor();
  const { credentials } = await device.send("getCredentials");
  assert.deepEqual(
    credentials.map(({ rpId, isResidentCredential }) => [rpId, isResidentCredential]),
    [["localhost", true]],
  );
});

test("it signs in without a password", async () => {
  await leave(page);
  await check(page, "signing in");
  await picture(page, "log-in");
  await page.goto("/login?next=%2Fsettings%2Fpasskeys");
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.waitForURL("**/settings/passkeys");
  await passkeys(page)
    .getByText(/last used/)
    .waitFor();
});

test("a device that does not know the person signs nobody in", async () => {
  await leave(page);
  await device.send("setUserVerified", { isUserVerified: false });
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.getByRole("alert").getByText("Passkey not used").waitFor();
  await device.send("setUserVerified", { isUserVerified: true });
  assert.equal((await page.request.get(`${url}/api/v1/chats`)).status(), 401);
});

test("two of one passkey are noticed, and it is removed", async () => {
  // The clone has a lower signature counter than the passkey.
  const { credentials } = await device.send("getCredentials");
  await page.getByRole("button", { name: "Log in with a passkey" }).click();
  await page.waitForURL("**/");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  const other = await openPage(browser, { url });
  const copy = await plugIn(other);
  await copy.send("addCredential", { credential: credentials[0] });
  await other.goto("/login");
  await other.getByRole("button", { name: "Log in with a passkey" }).click();
  await other.getByRole("alert").getByText("This passkey no longer works here.").waitFor();
  await other.context().close();
  await page.goto("/settings/passkeys");
  await page.getByText("This passkey may have been cloned").waitFor();
  await picture(page, "copied");
  await page.getByRole("button", { name: "Remove passkey: Laptop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove passkey" }).click();
  await page.getByText("This passkey may have been cloned").waitFor({ state: "detached" });
});

test("an administrator removes somebody else's, in Russian too", async () => {
  await addPerson(page, bob);
  const own = await openPage(browser, { url });
  await plugIn(own);
  await logIn(own, bob);
  await own.getByRole("textbox", { name: "Message" }).waitFor();
  await make(own, "Phone", bob.password);
  await own.getByText("Passkey added.").waitFor();
  await page.goto("/settings/people");
  await actOn(page, bob.name, "Remove passkeys");
  await page.getByRole("dialog").getByRole("button", { name: "Remove passkeys" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await own.goto("/settings/passkeys");
  await own.waitForURL("**/login**");
  await page.evaluate(() => localStorage.setItem("glasshouse.preferences", '{"language":"ru"}'));
  await page.goto("/settings/passkeys");
  await page.getByRole("button", { name: "Добавить ключ доступа" }).waitFor();
  await picture(page, "ru");
  // The browser logs intended rejections.
  assert.deepEqual(
    page.complaints.filter((words) => !/status of 4\d\d/.test(words)),
    [],
  );
});
