/** Password change with the real program: allowed only with the current password. */
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page, elsewhere;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  elsewhere = await openPage(browser, { url: glasshouse.url });
  await signIn("correct horse");
  await elsewhere.getByRole("textbox", { name: "Message" }).waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

async function signIn(password) {
  await elsewhere.goto("/");
  await elsewhere.getByLabel("Email").fill("ada@example.org");
  await elsewhere.getByLabel("Password").fill(password);
  await elsewhere.keyboard.press("Enter");
}

async function change(current, fresh) {
  await page.goto("/settings/password");
  await page.getByLabel("Current password").fill(current);
  await page.getByLabel("New password").fill(fresh);
  await page.getByRole("button", { name: "Change password" }).click();
}

test("a wrong or a short one changes nothing", async () => {
  await change("not it", "another horse");
  await page.getByText("The current password is wrong.").waitFor();
  await change("correct horse", "short");
  await page
    .getByText(/at least 8 characters/)
    .first()
    .waitFor();
});

test("the new one holds, and other browsers are signed out", async () => {
  await change("correct horse", "another horse");
  await page.getByText("Password changed.").waitFor();
  await page.goto("/");
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await signIn("correct horse");
  await elsewhere.getByText("Wrong email or password.").waitFor();
  await elsewhere.getByLabel("Password").fill("another horse");
  await elsewhere.keyboard.press("Enter");
  await elsewhere.getByRole("textbox", { name: "Message" }).waitFor();
});

test("an account is deleted by its owner only", async () => {
  const bob = { email: "bob@example.org", name: "Bob", password: "battery staple", role: "user" };
  await page.request.post(`${glasshouse.url}/api/v1/users`, {
    data: bob,
    headers: { origin: glasshouse.url },
  });
  const his = await openPage(browser, { url: glasshouse.url });
  await his.goto("/login?next=/settings/account");
  await his.getByLabel("Email").fill(bob.email);
  await his.getByLabel("Password").fill(bob.password);
  await his.keyboard.press("Enter");
  await his.getByRole("button", { name: "Delete account…" }).click();
  const dialog = his.getByRole("dialog", { name: "Delete my account" });
  await dialog.getByLabel("Password").fill("not it at all");
  await dialog.getByRole("button", { name: "Delete my account" }).click();
  await dialog.getByText("Wrong password.").waitFor();
  if (process.env.E2E_PICTURES) await his.screenshot({ path: `${process.env.E2E_PICTURES}/close.png` });
  await dialog.getByLabel("Password").fill(bob.password);
  await dialog.getByRole("button", { name: "Delete my account" }).click();
  await his.waitForURL("**/login");
  await his.getByLabel("Email").fill(bob.email);
  await his.getByLabel("Password").fill(bob.password);
  await his.keyboard.press("Enter");
  await his.getByText("Wrong email or password.").waitFor();
});
