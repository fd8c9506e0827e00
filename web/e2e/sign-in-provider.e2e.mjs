/**
 * The sign-in provider in the settings, with the real program and a real OpenID Connect provider: set up, tested,
 * changed and turned off while the server runs.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import Provider from "oidc-provider";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { callApi, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const secret = "a secret of thirty-two bytes, or so";
const bob = { email: "bob@example.org", email_verified: true, name: "Bob Brown" };
const fixedEnvironment = {
  GLASSHOUSE_OIDC_ISSUER: "https://id.example.org",
  GLASSHOUSE_OIDC_CLIENT_ID: "glasshouse",
  GLASSHOUSE_OIDC_NAME: "Example Login",
};

let browser, glasshouse, site, issuer, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  site = createServer();
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${site.address().port}`;
  const redirect_uris = [`${glasshouse.url}/oauth/login/callback`];
  const provider = new Provider(issuer, {
    clients: [{ client_id: "glasshouse", client_secret: secret, redirect_uris }],
    claims: { email: ["email", "email_verified"], profile: ["name"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...bob }) }),
  });
  site.on("request", provider.callback());
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  site?.closeAllConnections();
  site?.close();
});

const dialog = () => page.getByRole("dialog");
const button = (name) => dialog().getByRole("button", { name, exact: true });
const field = (name) => dialog().getByLabel(name, { exact: true });
const section = () => page.getByRole("region", { name: "Sign-in provider" });

async function picture(name, of = page) {
  if (process.env.E2E_PICTURES)
    await of.screenshot({ path: `${process.env.E2E_PICTURES}/sign-in-provider-${name}.png` });
}

/** The names on the buttons of the sign-in page. */
async function ways() {
  const there = await openPage(browser, { url: glasshouse.url });
  await there.goto("/login");
  await there.getByLabel("Email").waitFor();
  const names = await there.getByRole("link", { name: /Continue with/ }).allTextContents();
  await there.context().close();
  return names.map((name) => name.trim());
}

test("a preset fills in the issuer, of which a part is to be replaced", async () => {
  await page.goto("/settings/sign-in-provider");
  await section().getByRole("button", { name: "Set up" }).click();
  // What the provider has to know is there before anything is typed.
  await dialog().getByText(`${glasshouse.url}/oauth/login/callback`).waitFor();
  await dialog().getByRole("button", { name: "Copy" }).click();
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    `${glasshouse.url}/oauth/login/callback`,
  );
  await field("Provider").selectOption("Microsoft Entra ID");
  assert.equal(await page.evaluate(() => getSelection().toString()), "TENANT-ID");
  await field("Client ID").fill("glasshouse");
  assert.ok(await button("Test").isDisabled());
  await dialog().getByText("Replace TENANT-ID with your own.").waitFor();
  assert.equal(await field("Name on the button").inputValue(), "Microsoft");
  await check(page, "the form of the sign-in provider");
  await picture("preset");
});

test("a failing issuer is explained at the form, and nothing that was typed is lost", async () => {
  await field("Provider").selectOption("Other");
  await field("Issuer").fill(`${issuer}/elsewhere`);
  await field("Client secret").fill(secret);
  await field("Name on the button").fill("Example Login");
  await button("Test").click();
  await dialog().getByRole("alert").getByText("There is no description of a provider").waitFor();
  await picture("failed");
  await page.keyboard.press("Escape");
  await button("Keep editing").click();
  assert.equal(await field("Client ID").inputValue(), "glasshouse");
});

test("it is tested and saved, and people sign in at once", async () => {
  assert.deepEqual(await ways(), []);
  await field("Issuer").fill(issuer);
  await button("Test").click();
  await dialog()
    .getByText(`It works. People sign in at ${new URL(issuer).host}.`)
    .waitFor();
  await dialog().getByText("Advanced").click();
  assert.equal(await field("Scopes").inputValue(), "openid email profile");
  await check(page, "all of the form of the sign-in provider");
  await picture("advanced");
  await button("Save").click();
  await dialog().waitFor({ state: "detached" });
  await section().getByText("Example Login").waitFor();
  await check(page, "the sign-in provider in the settings");
  await picture("on");
  assert.deepEqual(await ways(), ["Continue with Example Login"]);

  const there = await openPage(browser, { url: glasshouse.url });
  await there.goto("/login");
  await there.getByRole("link", { name: "Continue with Example Login" }).click();
  await there.locator("input[name=login]").fill("bob");
  await there.locator("input[name=password]").fill("any");
  await there.getByRole("button", { name: "Sign-in" }).click();
  await there.getByRole("button", { name: "Continue" }).click();
  await there.waitForURL(`${glasshouse.url}/**`);
  const { user } = await callApi(there, glasshouse.url, "get", "/me");
  assert.equal(user.email, bob.email);
  await there.context().close();
});

test("it is changed without entering the secret again, which goes to no other host", async () => {
  await section().getByRole("button", { name: "Edit" }).click();
  assert.equal(await field("Client secret").getAttribute("placeholder"), "Unchanged");
  assert.equal(await field("Client secret").inputValue(), "");
  assert.ok(await button("Save").isDisabled());
  await field("Issuer").fill("https://other.example.org");
  await dialog().getByText("The stored secret isn’t sent to another host.").waitFor();
  await dialog().getByText("they count as new people").waitFor();
  await field("Issuer").fill(issuer);
  await dialog().getByText("Advanced").click();
  await field("Allowed groups").fill("staff");
  const sent = page.waitForRequest((request) => request.method() === "PATCH");
  await button("Save").click();
  assert.deepEqual((await sent).postDataJSON(), { values: { "oidc.allowed_groups": ["staff"] } });
  await dialog().waitFor({ state: "detached" });
});

test("it is turned off, and on again", async () => {
  await section().getByRole("button", { name: "Turn off" }).click();
  await dialog().getByText("stay signed in until their sessions end").waitFor();
  await dialog().getByText("people without a password or a passkey").waitFor();
  assert.equal(await dialog().getByText("You have neither yourself").count(), 0);
  await check(page, "turning off the sign-in provider");
  await picture("off");
  await button("Turn off the sign-in provider").click();
  await section().getByRole("button", { name: "Set up" }).waitFor();
  assert.deepEqual(await ways(), []);
  await page.getByRole("button", { name: "Undo" }).click();
  await section().getByText("Example Login").waitFor();
  await until("the button", async () => (await ways()).length === 1);
});

test("what the configuration sets is only shown", async () => {
  const fixed = await startGlasshouse(fixedEnvironment);
  try {
    const there = await openPage(browser, { url: fixed.url });
    await setUp(there);
    await there.goto("/settings/sign-in-provider");
    const shown = there.getByRole("region", { name: "Sign-in provider" });
    await shown.getByText("Set by GLASSHOUSE_OIDC_ISSUER").waitFor();
    assert.equal(await shown.getByRole("button", { name: "Turn off" }).count(), 0);
    // What it leaves open can be changed.
    await shown.getByRole("button", { name: "Edit" }).click();
    const form = there.getByRole("dialog");
    assert.ok(await form.getByLabel("Issuer", { exact: true }).isDisabled());
    await form.getByText("Set by GLASSHOUSE_OIDC_CLIENT_ID").waitFor();
    assert.ok(await form.getByLabel("Client secret", { exact: true }).isEnabled());
    await check(there, "a sign-in provider of the configuration");
    await picture("fixed", there);
    await there.context().close();
  } finally {
    await fixed.stop();
  }
});

test("the search of the settings leads there", async () => {
  await page.goto("/settings/general");
  await page.getByRole("combobox", { name: "Search settings" }).fill("oidc");
  await page
    .getByRole("option", { name: /Sign-in provider/ })
    .first()
    .click();
  await page.waitForURL("**/settings/people#signInProvider.title");
  assert.deepEqual(
    page.complaints.filter((text) => !text.includes("422")),
    [],
  );
});
