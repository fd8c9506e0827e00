/** Sign-in with a real OpenID Connect provider and the real program: first sign-in, repeated, rejected. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import Provider from "oidc-provider";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** Users known to the provider, which accepts any password. */
const people = {
  ada: { email: "ada@example.org", email_verified: true, name: "Ada Lovelace", groups: ["heads", "staff"] },
  bob: { email: "bob@example.org", email_verified: true, name: "Bob Brown", groups: ["staff"] },
  eve: { email: "eve@example.org", email_verified: true, name: "Eve", groups: [] },
};

let browser, glasshouse, site;

test.beforeAll(async () => {
  browser = await launch();
  site = createServer();
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${site.address().port}`;
  glasshouse = await startGlasshouse({
    GLASSHOUSE_OIDC_ISSUER: issuer,
    GLASSHOUSE_OIDC_CLIENT_ID: "glasshouse",
    GLASSHOUSE_OIDC_CLIENT_SECRET: "a secret of thirty-two bytes, or so",
    GLASSHOUSE_OIDC_NAME: "Example Login",
    GLASSHOUSE_OIDC_SCOPES: "openid,email,profile,groups",
    GLASSHOUSE_OIDC_ADMIN_GROUPS: "heads",
    GLASSHOUSE_OIDC_ALLOWED_GROUPS: "staff",
  });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "glasshouse",
        client_secret: "a secret of thirty-two bytes, or so",
        redirect_uris: [`${glasshouse.url}/oauth/login/callback`],
      },
    ],
    claims: { email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
  });
  site.on("request", provider.callback());
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  site?.closeAllConnections();
  site?.close();
});

/** Signs in through the provider's pages in a new browser context. */
async function signIn(login, at = "/") {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.goto(at);
  await page.getByRole("link", { name: "Continue with Example Login" }).click();
  await page.locator("input[name=login]").fill(login);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.waitForURL(`${glasshouse.url}/**`);
  return page;
}

async function user(page) {
  const answer = await page.request.get(`${glasshouse.url}/api/v1/me`);
  return (await answer.json()).user;
}

test("nobody takes a new server by coming first, but whom the provider names its administrator", async () => {
  const bob = await signIn("bob");
  await bob.waitForURL("**/setup**");
  await bob.getByRole("alert").getByText("This server isn’t set up yet.").waitFor();
  await check(bob, "set-up with another way in");
  if (process.env.E2E_PICTURES) await bob.screenshot({ path: `${process.env.E2E_PICTURES}/oidc-setup.png` });
  await bob.context().close();

  const ada = await signIn("ada");
  await ada.getByRole("textbox", { name: "Message" }).waitFor();
  assert.equal((await user(ada)).role, "admin");
  await ada.context().close();
});

test("a person gets an account, and lands where they wanted to go", async () => {
  const bob = await signIn("bob", "/settings/memory");
  await bob.waitForURL("**/settings/memory");
  const { id, name, role } = await user(bob);
  assert.deepEqual([name, role], ["Bob Brown", "user"]);
  await bob.context().close();
  const again = await signIn("bob");
  await again.getByRole("textbox", { name: "Message" }).waitFor();
  assert.equal((await user(again)).id, id);
  await again.context().close();
});

test("who is in no group that may come is told so", async () => {
  const eve = await signIn("eve");
  await eve.waitForURL("**/login**");
  await eve.getByRole("alert").getByText("None of your groups at Example Login has access here.").waitFor();
  assert.equal(await user(eve), null);
  await check(eve, "log-in with another way in");
  if (process.env.E2E_PICTURES) await eve.screenshot({ path: `${process.env.E2E_PICTURES}/oidc-login.png` });
  await eve.context().close();
});

test("who says no there is not signed in", async () => {
  const page = await openPage(browser, { url: glasshouse.url });
  await page.goto("/");
  await page.getByRole("link", { name: "Continue with Example Login" }).click();
  await page.getByRole("link", { name: /Cancel/ }).click();
  await page.waitForURL(`${glasshouse.url}/login**`);
  await page.getByRole("alert").getByText("Example Login says you denied access.").waitFor();
  await page.context().close();
});
