/**
 * Groups with the real program: a model is restricted to one group, and another user sees it only while being a member.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { hasValue, isAsked, launch, openPage } from "./browser.mjs";
import { check } from "./axe.mjs";
import { actOn, addPerson, bob as theOther, connectModel, logIn, setUp } from "./people.mjs";
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
/** Opens the dialog for access to a resource. */
async function changeAccess(name) {
  await ada.getByRole("button", { name: `Change access: ${name}`, exact: true }).press("Enter");
  return ada.getByRole("dialog", { name: `Access: ${name}` });
}
/** Chooses an audience without groups, and applies it. */
async function putAccess(name, audience) {
  const dialog = await changeAccess(name);
  await dialog.getByRole("radio", { name: audience }).check();
  await dialog.getByRole("button", { name: "Apply" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
}
const access = (name, words) =>
  ada.getByRole("list", { name: "Access" }).getByRole("listitem").filter({ hasText: name }).getByText(words);
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
  await access("scripted", "Default: Everyone").waitFor();
  const dialog = await changeAccess("scripted");
  const apply = dialog.getByRole("button", { name: "Apply" });
  const research = dialog
    .getByRole("group", { name: "Groups that can use scripted" })
    .getByRole("checkbox", { name: "Research" });
  await dialog.getByRole("radio", { name: "Selected groups" }).focus();
  await ada.keyboard.press("Space");
  await dialog.getByText("Choose at least one group.").waitFor();
  assert.ok(await apply.isDisabled());
  await research.press("Space");
  await dialog.locator("summary", { hasText: "1 person loses access" }).press("Enter");
  await dialog.getByText("Bob Byte").waitFor();
  await check(ada, "access");
  await picture(ada, "groups-access");
  // Nothing is applied by Escape, which asks before it discards a choice.
  await ada.keyboard.press("Escape");
  await dialog.getByRole("button", { name: "Discard" }).press("Enter");
  await dialog.waitFor({ state: "detached" });
  assert.ok((await modelsOf(bob)).includes("scripted"));
  await changeAccess("scripted");
  await dialog.getByRole("radio", { name: "Selected groups" }).check();
  await research.check();
  await apply.press("Enter");
  await ada.getByText("Members also get: scripted").waitFor();
  await access("scripted", "Research").waitFor();
  assert.ok(!(await modelsOf(bob)).includes("scripted"));
  await ada.getByRole("alert").getByRole("button", { name: "Undo" }).press("Enter");
  await access("scripted", "Default: Everyone").waitFor();
  assert.ok((await modelsOf(bob)).includes("scripted"));
  await changeAccess("scripted");
  await dialog.getByRole("radio", { name: "Selected groups" }).check();
  await research.check();
  await apply.press("Enter");
  await access("scripted", "Research").waitFor();
  assert.ok(!(await modelsOf(bob)).includes("scripted"));
  // The last group is not removed by accident: no access must be chosen explicitly.
  await changeAccess("scripted");
  await research.uncheck();
  await dialog.getByText("Choose at least one group.").waitFor();
  assert.ok(await apply.isDisabled());
  await dialog.getByRole("button", { name: "Cancel" }).press("Enter");
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

test("who loses the model is told so, and nothing goes to another one", async () => {
  const dialog = await changeAccess("scripted");
  await dialog.getByRole("radio", { name: "Administrators only" }).check();
  await dialog.getByRole("button", { name: "Apply" }).press("Enter");
  await access("scripted", "Administrators only").waitFor();
  const box = bob.getByRole("textbox", { name: "Message" });
  const asked = await bob.getByRole("article").count();
  // The open page does not know yet.
  await box.fill("Still there?");
  await bob.getByRole("button", { name: "Send" }).click();
  await bob.getByText("scripted is no longer available to you. Choose another model.").first().waitFor();
  await hasValue(box, "Still there?");
  assert.equal(await bob.getByRole("article").count(), asked);
  await check(bob, "a model that went away");
  await picture(bob, "groups-model-gone");
  await ada.getByRole("alert").getByRole("button", { name: "Undo" }).press("Enter");
  await access("scripted", "Research").waitFor();
  await bob.reload();
  await bob.getByRole("button", { name: "scripted: choose a model" }).waitFor();
  await hasValue(box, "Still there?");
  await box.fill("");
});

test("it is shown with the person, and has limits", async () => {
  await ada.goto("/settings/people");
  const bobs = row("Bob Byte");
  await bobs.getByText("Groups: Research").waitFor();
  const dialog = ada.getByRole("dialog", { name: "Groups of Bob Byte" });
  for (const isMember of [false, true]) {
    await actOn(ada, "Bob Byte", "Groups");
    await dialog.getByRole("checkbox", { name: "Research" }).setChecked(isMember);
    await dialog.getByRole("button", { name: "Save" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await bobs.getByText("Groups: Research").waitFor({ state: isMember ? "visible" : "detached" });
  }
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
  await putAccess("write_file", "Administrators only");
  await access("write_file", "Administrators only").waitFor();
  await picture(ada, "groups-tools");
  await putAccess("write_file", "Default: Everyone");
  await access("write_file", "Default: Everyone").waitFor();
  await kind("Rights");
  await putAccess("API keys", "Administrators only");
  await access("API keys", "Administrators only").waitFor();
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
  await access("scripted", "Administrators only").waitFor();
  for (const page of [ada, bob]) {
    // The browser logs rejected requests to the console.
    const complaints = page.complaints.filter((words) => !/status of 4(00|03|04|29)/.test(words));
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
  await ada.getByRole("button", { name: "Изменить доступ: Все остальные модели, включая новые" }).click();
  await ada.getByRole("radio", { name: "Только администраторы" }).check();
  await ada.getByText("Ни у кого доступ не изменится.").waitFor();
  await ada.getByRole("radio", { name: "Выбранные группы" }).check();
  await ada.getByRole("checkbox", { name: "Отдел закупок" }).check();
  await check(ada, "access on a phone");
  await picture(ada, "groups-access-phone");
});
