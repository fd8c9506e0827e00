/** Two users with the real program: a chat is shared, watched live, and unshared; and what administrators may read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { isAsked, launch, openPage } from "./browser.mjs";
import { actOn, addPerson, logIn, setUp, bob as theReader } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, ada, bob, chat;

const picture = async (page, name) => {
  if (process.env.E2E_PICTURES) {
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `${name}.png`) });
  }
};

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse({ GLASSHOUSE_MODERATION: "true" })]);
  const { url } = glasshouse;
  ada = await openPage(browser, { url, preferences: { theme: "light" } });
  bob = await openPage(browser, {
    url,
    preferences: { theme: "dark" },
    viewport: { width: 390, height: 844 },
  });
  await setUp(ada);
  await addPerson(ada);
  await logIn(bob, theReader);
  await bob.locator("#composer").waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const line = () => ada.getByRole("listitem").filter({ hasText: theReader.email });

test("a chat is shared by name, and read while its run waits", async () => {
  await ada.goto("/");
  await ada.locator("#composer").fill("Show me how Glasshouse works");
  await ada.getByRole("button", { name: "Send" }).click();
  await ada.getByRole("button", { name: "Allow once" }).waitFor();
  chat = new URL(ada.url()).pathname;
  assert.equal((await bob.request.get(`/api/v1/chats/${chat.slice(3)}`)).status(), 404);

  await ada.getByRole("button", { name: "Share chat" }).press("Enter");
  const dialog = ada.getByRole("dialog", { name: "Share chat" });
  await dialog.getByLabel("Email address").fill("nobody@example.org");
  await dialog.getByRole("button", { name: "Share", exact: true }).press("Enter");
  await dialog.getByText("No account has this email address.").waitFor();
  await dialog.getByLabel("Email address").fill(theReader.email);
  await ada.keyboard.press("Enter");
  await line().waitFor();
  await check(ada, "the dialog");
  await picture(ada, "share-dialog");

  await bob.goto("/");
  await bob.getByRole("button", { name: "Open sidebar" }).click();
  await bob.getByRole("heading", { name: "Shared with me" }).waitFor();
  await bob.getByText("Administrators can read chats here.").waitFor();
  await picture(bob, "shared-list");
  await bob.locator(`nav a[href="${chat}"]`).click();
  await bob.getByText("Shared by Ada Lovelace (ada@example.org)").waitFor();
  await bob.getByText("Waiting for Ada Lovelace").waitFor();
  await bob.getByText("Only Ada Lovelace can answer this.").waitFor();
  for (const name of ["Allow once", "Send", "Share chat", "Edit"]) {
    assert.equal(await bob.getByRole("button", { name, exact: true }).count(), 0, name);
  }
  await check(bob, "a chat of somebody else");
  await picture(bob, "shared-chat");
});

test("the reader sees it go on, until it is shared no longer", async () => {
  await ada.keyboard.press("Escape");
  await ada.getByRole("button", { name: "Allow once" }).click();
  await bob.getByText("Only Ada Lovelace can answer this.").waitFor({ state: "detached" });
  await ada.getByRole("button", { name: "Share chat" }).click();
  await isAsked(line().getByRole("button", { name: "Stop sharing" }), "Stop sharing");
  await line().waitFor({ state: "detached" });
  await bob.reload();
  await bob
    .getByText("not found", { exact: false })
    .or(bob.getByText("There is no", { exact: false }))
    .waitFor();
  await picture(bob, "shared-no-longer");
});

test("an open chat is read by whoever has its address", async () => {
  await ada.getByRole("switch", { name: "Anyone on this server with the link" }).click();
  await ada.getByRole("button", { name: "Copy link" }).click();
  await ada.getByText("Copied", { exact: true }).first().waitFor();
  const link = await ada.evaluate(() => navigator.clipboard.readText());
  await bob.goto(link);
  await bob.getByText("Shared by Ada Lovelace (ada@example.org)").waitFor();
  await ada.getByRole("switch", { name: "Anyone on this server with the link" }).click();
  await bob.reload();
  await bob.getByText("Shared by Ada Lovelace (ada@example.org)").waitFor({ state: "detached" });
});

test("an administrator's look at somebody's chat is noted", async () => {
  const made = await (await bob.request.post("/api/v1/chats", { data: { title: "Bob's own" } })).json();
  await ada.goto("/settings/people");
  await actOn(ada, "Bob Byte", "Chats");
  await ada.getByRole("dialog").getByRole("link", { name: "Bob's own" }).waitFor();
  await check(ada, "somebody's chats");
  await picture(ada, "moderation");
  await ada.getByRole("dialog").getByRole("link", { name: "Bob's own" }).click();
  await ada.getByText(`Shared by Bob Byte (${theReader.email})`).waitFor();
  await ada.goto("/settings/audit");
  const look = ada
    .getByRole("main")
    .getByRole("listitem")
    .filter({ hasText: "Read a user’s chat as administrator" });
  await look.waitFor();
  assert.match(await look.innerText(), /bob@example\.org[^]*ada@example\.org/);
  await ada.getByRole("main").getByLabel("Search").fill(made.id);
  await ada.getByRole("main").getByRole("listitem").filter({ hasText: "Wrong" }).or(look).first().waitFor();
  await check(ada, "the audit log");
  await picture(ada, "audit");
  const csv = ada.waitForEvent("download");
  await ada.getByRole("link", { name: "CSV" }).click();
  assert.equal((await csv).suggestedFilename(), "audit.csv");
});

test("nothing complained", () => {
  // An unknown address, and a chat that is no longer shared.
  const expected = /status of 40[04]/;
  for (const page of [ada, bob]) {
    assert.deepEqual(
      page.complaints.filter((complaint) => !expected.test(complaint)),
      [],
    );
  }
});
