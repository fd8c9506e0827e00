/**
 * Groups with the real program: a model is restricted to one group, and another user sees it only while being a member.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { hasValue, isAsked, launch, openPage, until } from "./browser.mjs";
import { check } from "./axe.mjs";
import { addPerson, bob as theOther, connectModel, logIn, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, model, ada, bob;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse(),
    startModel([{ turns: [turn(text("Hello from the scripted one."))] }]),
  ]);
  ada = await openPage(browser, { url: glasshouse.url });
  bob = await openPage(browser, { url: glasshouse.url, viewport: { width: 390, height: 844 } });
  await setUp(ada);
  await connectModel(ada, model);
  await addPerson(ada);
  await logIn(bob, theOther);
  await bob.getByRole("textbox", { name: "Message" }).waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const picture = async (page, name) => {
  if (process.env.PICTURES)
    await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`), fullPage: true });
};
const row = (name) =>
  ada
    .getByRole("main")
    .getByRole("listitem")
    .filter({ has: ada.getByText(name, { exact: true }) });
const kind = (name) => ada.getByRole("radiogroup", { name: "Access" }).getByText(name).click();
const modelsOf = async (page) => {
  const answer = await (await page.request.get("/api/v1/models")).json();
  return answer.models.map(({ id }) => id);
};

test("an administrator makes a group and says what is only for it, with the keyboard alone", async () => {
  await ada.goto("/settings/groups");
  await ada.getByText("No groups yet").waitFor();
  await ada.getByRole("button", { name: "New group" }).press("Enter");
  await ada.getByLabel("Name").focus();
  await ada.keyboard.type("Research");
  await ada.keyboard.press("Tab");
  await ada.keyboard.type("Tries new models.");
  await ada.getByRole("button", { name: "Create group" }).press("Enter");
  await ada.getByText("No members yet").waitFor();
  assert.ok((await modelsOf(bob)).includes("scripted"));
  await ada.getByLabel("scripted", { exact: true }).selectOption("groups");
  await ada.getByText("Choose at least one group. Nothing has changed yet.").waitFor();
  assert.ok((await modelsOf(bob)).includes("scripted"));
  const chip = ada.getByRole("group", { name: "Groups that can use scripted" }).getByRole("button");
  await chip.press("Enter");
  await ada.getByText("Members also get: scripted").waitFor();
  assert.ok(!(await modelsOf(bob)).includes("scripted"));
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  // The last group is not removed by accident: no access must be chosen explicitly.
  await chip.press("Enter");
  await ada.getByText("Choose at least one group. Nothing has changed yet.").waitFor();
  assert.equal(await chip.getAttribute("aria-pressed"), "true");
  await check(ada, "groups");
});

test("whoever is not in it does not see the model, and does from the moment that they are", async () => {
  await bob.reload();
  await bob.getByRole("textbox", { name: "Message" }).waitFor();
  assert.deepEqual(await modelsOf(bob), ["tour"]);
  const box = ada.getByLabel("Email addresses");
  await box.fill("nobody@example.org");
  await ada.getByRole("button", { name: "Add", exact: true }).click();
  await ada.getByText("No account has the email address").first().waitFor();
  assert.equal(await box.inputValue(), "nobody@example.org", "what was typed stays");
  await box.fill(theOther.email);
  await box.press("Enter");
  await ada.getByRole("button", { name: "Remove Bob Byte" }).waitFor();
  await ada.getByText("1 person").waitFor();
  await picture(ada, "groups-members");
  await bob.reload();
  assert.deepEqual((await modelsOf(bob)).sort(), ["scripted", "tour"]);
  await bob.getByRole("textbox", { name: "Message" }).fill("Hello?");
  await bob.keyboard.press("Enter");
  await bob.getByText("Hello from the scripted one.").waitFor();
});

test("it is shown with the person, and has limits", async () => {
  await ada.goto("/settings/people");
  await row("Bob Byte").getByText("Groups: Research").waitFor();
  await ada.goto("/settings/groups");
  await ada.getByRole("button", { name: "Limits: Research" }).press("Enter");
  const total = ada.getByRole("region", { name: "All members together" });
  await total.getByRole("group", { name: "Per day" }).getByLabel("Requests").fill("1");
  await total.getByRole("button", { name: "Save" }).press("Enter");
  await ada.getByText("Saved").first().waitFor();
  await picture(ada, "groups-limits");
  const refused = await bob.request.post("/v1/chat/completions", {
    data: { model: "scripted", messages: [{ role: "user", content: "Hi" }] },
  });
  assert.equal(refused.status(), 429);
  await bob.goto("/settings/usage");
  await bob.getByText("Per day: Requests, all of Research together").waitFor();
  await picture(bob, "groups-left");
  assert.match(
    (await refused.json()).error.message,
    /^A group of this account has reached its limit of 1 requests a day/,
  );
});

test("other kinds of things can be found, and programs be kept to some", async () => {
  await ada.getByRole("radio", { name: "Models" }).focus();
  await ada.keyboard.press("ArrowRight");
  await ada.keyboard.press("ArrowRight");
  await ada.getByLabel("Search", { exact: true }).fill("write_file");
  await ada.getByLabel("write_file", { exact: true }).selectOption("administrators");
  await hasValue(ada.getByLabel("write_file", { exact: true }), "administrators");
  await picture(ada, "groups-tools");
  await ada.getByLabel("write_file", { exact: true }).selectOption("rest");
  await hasValue(ada.getByLabel("write_file", { exact: true }), "rest");
  await kind("Rights");
  await ada.getByLabel("API keys", { exact: true }).selectOption("administrators");
  await until("the right", async () => {
    const { permissions } = await (await ada.request.get("/api/v1/permissions")).json();
    return permissions.some(({ kind, name }) => kind === "right" && name === "api_keys");
  });
  const refused = await bob.request.post("/api/v1/keys", { data: { name: "mine" } });
  assert.equal(refused.status(), 403);
});

test("who is taken out has it no more, and with the group it stays shut", async () => {
  await ada.getByRole("button", { name: "Members: Research" }).press("Enter");
  await isAsked(ada.getByRole("button", { name: "Remove Bob Byte" }), "Remove");
  await ada.getByText("No members yet").waitFor();
  assert.deepEqual(await modelsOf(bob), ["tour"]);
  await ada.getByRole("button", { name: "Delete: Research" }).click();
  await ada.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await ada.getByText("No groups yet").waitFor();
  assert.deepEqual(await modelsOf(bob), ["tour"]);
  await kind("Models");
  await hasValue(ada.getByLabel("scripted", { exact: true }), "administrators");
  for (const page of [ada, bob]) {
    // The browser logs rejected requests to the console.
    const complaints = page.complaints.filter((words) => !/status of 4(00|29|03)/.test(words));
    assert.deepEqual(complaints, []);
  }
});

test("it fits on a phone, in the dark and in Russian", async () => {
  await ada.setViewportSize({ width: 390, height: 844 });
  await ada.request.post("/api/v1/groups", { data: { name: "Отдел закупок и сопровождения договоров" } });
  await ada.evaluate(() => {
    const found = JSON.parse(localStorage.getItem("glasshouse.preferences") ?? "{}");
    localStorage.setItem(
      "glasshouse.preferences",
      JSON.stringify({ ...found, language: "ru", theme: "dark" }),
    );
  });
  await ada.goto("/settings/groups");
  await ada.getByText("Отдел закупок").first().waitFor();
  await check(ada, "groups on a phone");
  const over = await ada.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(over <= 0, `${over}px too wide`);
  await picture(ada, "groups-phone");
});
