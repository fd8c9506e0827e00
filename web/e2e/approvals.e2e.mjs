/** Approvals and questions in the dock above the composer: read, edited, remembered, denied, several at a time. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser, server, page;

test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(() => browser.close());
test.afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.close();
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

async function begin(words, options = {}) {
  server = await new FakeServer({ account: true, model: true, pace: 0.05 }).listen();
  page = await openPage(browser, { url: server.url, ...options });
  await page.goto("/");
  await page.locator("#composer").fill(words);
  await page.getByRole("button", { name: "Send" }).click();
  await card().waitFor();
}

const dock = () => page.getByRole("region", { name: "Waiting for you" });
const card = () => page.locator("[data-waiting]");
const button = (name) => card().getByRole("button", { name, exact: true });
const run = () => [...server.runs.values()].at(-1);
const decisions = () => run().log.flatMap(({ body }) => (body.type === "approval_answered" ? [body] : []));
const finished = () => page.getByRole("button", { name: "Regenerate" }).waitFor();
/** The arguments with which the tool ran. */
const ranWith = (name) =>
  run().log.flatMap(({ body }) =>
    body.type === "tool_started" && body.name === name ? [body.arguments] : [],
  );
const boxOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().toJSON());
const isFocused = (locator) =>
  until("it has the focus", () => locator.evaluate((element) => element === document.activeElement));
/** The requests to decide, as they are sent. */
function watchDecisions() {
  const sent = [];
  page.on("request", (request) => {
    if (/\/approvals\//.test(request.url())) sent.push(request.postDataJSON());
  });
  return sent;
}

/** The buttons are in the page, above the composer, and the newest step is above the card. */
async function isUsable() {
  const composer = await boxOf(page.locator("#composer"));
  for (const each of await card().locator(".foot .button, .actions .button").all()) {
    const box = await boxOf(each);
    assert.ok(box.top >= 0 && box.bottom <= composer.top, `${box.bottom} is above ${composer.top}`);
  }
  assert.ok(composer.bottom <= (await page.evaluate(() => innerHeight)));
  const step = await boxOf(page.locator(".steps .step").last());
  const thread = await boxOf(page.getByRole("log"));
  const region = await boxOf(dock());
  assert.ok(step.bottom > thread.top + 10, "the newest step is in view");
  assert.ok(step.bottom <= region.top, "the newest step is not covered");
  assert.ok(region.bottom <= composer.top);
}

test("a call is read in words, directly above the composer", async () => {
  await begin("ticket");
  await card().getByRole("heading", { name: "Create a ticket in tickets" }).waitFor();
  await card().getByText("tickets__create_ticket").waitFor();
  await card()
    .getByText(/Expires \w+/)
    .waitFor();
  const body = card().locator("dd", { hasText: "On screens narrower" });
  assert.match(await body.innerText(), /footer\.\n\nSteps:\n1\. Open/);
  assert.deepEqual(await card().locator("li").allInnerTexts(), ["bug", "ui"]);
  assert.match(await card().innerText(), /Email\s+ada@example\.org/);
  await isUsable();
  await page.setViewportSize({ width: 1100, height: 560 });
  await until("the page is laid out anew", async () => (await boxOf(dock())).height < 360);
  await isUsable();
  await check(page, "the card of a call");
  await button("Hide details").press("Enter");
  await body.waitFor({ state: "hidden" });
  await page.keyboard.press("Control+Alt+Enter");
  await finished();
  assert.equal(decisions()[0].decision, "allow");
  assert.equal(await dock().count(), 0);
});

test("on a phone the buttons stay in view, also above the keyboard", async () => {
  await begin("ticket", phone);
  await isUsable();
  // The page shrinks when the keyboard opens.
  await button("Deny…").tap();
  await page.setViewportSize({ width: 390, height: 500 });
  await until("the page is laid out anew", async () => (await boxOf(dock())).height < 320);
  await isUsable();
  await page.keyboard.type("not now");
  await button("Cancel").tap();
  await button("Edit").tap();
  await isUsable();
  await card().getByLabel("Title").fill("Shorter");
  await card().getByLabel("Reporter JSON").scrollIntoViewIfNeeded();
  await isUsable();
  await check(page, "the form of a call on a phone");
  await button("Allow with changes").tap();
  await finished();
  assert.equal(ranWith("tickets__create_ticket")[0].title, "Shorter");
});

test("arguments are edited in fields; half-filled ones survive a reload and another page", async () => {
  await begin("ticket");
  await button("Edit").click();
  await isFocused(card().getByLabel("Project"));
  await card().getByLabel("Priority").fill("high");
  await card().getByText("Enter a number.").waitFor();
  assert.equal(await button("Allow with changes").isDisabled(), true);
  await card().getByLabel("Body").fill("Line one\nLine two");
  await card().getByLabel("Notify").uncheck();
  await check(page, "the form of a call");
  await page.reload();
  await hasValue(card().getByLabel("Priority"), "high");
  await page.getByRole("link", { name: /Needs your attention/ }).click();
  await hasValue(card().getByLabel("Body"), "Line one\nLine two");
  await button("Deny…").click();
  await page.keyboard.type("no");
  await page.keyboard.press("Escape");
  await hasValue(card().getByLabel("Body"), "Line one\nLine two");
  await check(page, "the inbox");
  await page.goBack();
  await hasValue(card().getByLabel("Body"), "Line one\nLine two");
  assert.equal(await card().getByLabel("Notify").isChecked(), false);
  await card().getByLabel("Priority").press("Escape");
  await card().getByText("Your changes have not been sent.").waitFor();
  await isFocused(button("Continue editing"));
  await page.keyboard.press("Enter");
  await card().getByLabel("Priority").fill("1");
  await button("Allow with changes").press("Enter");
  await finished();
  const [made] = ranWith("tickets__create_ticket");
  assert.deepEqual(
    [made.priority, made.body, made.notify, made.labels],
    [1, "Line one\nLine two", false, ["bug", "ui"]],
  );
});

test("the menu allows more by keyboard, and a custom rule shows what it matches", async () => {
  await begin("ticket");
  const sent = watchDecisions();
  await button("Allow once").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const item = (name) => page.getByRole("menuitem", { name });
  await isFocused(item(/^Allow in this chat/));
  await check(page, "the menu of a call");
  await page.keyboard.press("Escape");
  await item(/^Allow in this chat/).waitFor({ state: "detached" });
  await isFocused(button("More ways to allow"));
  await page.keyboard.press("Enter");
  await isFocused(item(/^Allow in this chat/));
  await page.keyboard.press("ArrowDown");
  await isFocused(item(/^Always allow/));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Custom rule for tickets__create_ticket" });
  await dialog.getByText("Matching calls: 1 of 1").waitFor();
  await dialog.getByLabel("Title", { exact: true }).fill("Login*");
  await dialog.getByText("Matching calls: 1 of 1").waitFor();
  await dialog.getByLabel("Project", { exact: true }).fill("shop");
  await dialog.getByText("Matching calls: 0 of 1").waitFor();
  await dialog.getByText("This call does not match the rule.").waitFor();
  await dialog.getByRole("button", { name: "Project: Any value" }).click();
  await dialog.getByText("Matching calls: 1 of 1").waitFor();
  await check(page, "the dialog of a custom rule");
  // The card under the dialog is not decided by its key.
  await page.keyboard.press("Control+Alt+Enter");
  // What was typed is there again, and nothing was stopped.
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(run().stopped, false);
  await button("More ways to allow").press("Enter");
  await item(/^Custom rule/).click();
  await hasValue(dialog.getByLabel("Title", { exact: true }), "Login*");
  await dialog.getByText("In all my chats").click();
  await dialog.getByRole("button", { name: "Allow matching calls" }).click();
  await finished();
  assert.equal(sent.length, 1);
  assert.equal(sent[0].remember, "always");
  assert.deepEqual(
    [sent[0].remember_arguments.title, sent[0].remember_arguments.project, sent[0].remember_arguments.notify],
    ["Login*", "*", "true"],
  );
});

test("earlier calls of the chat are in the list of a custom rule", async () => {
  await begin("ticket");
  await button("Allow once").click();
  await finished();
  await page.reload();
  await page.locator("#composer").fill("another ticket");
  await page.keyboard.press("Enter");
  await button("More ways to allow").click();
  await page.getByRole("menuitem", { name: /^Custom rule/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Matching calls: 2 of 2").waitFor();
  await dialog.getByText("Earlier").waitFor();
});

test("Escape closes the form first, keeps the reason, and stops nothing", async () => {
  await begin("ticket");
  await page.keyboard.press("Control+Alt+Backspace");
  const reason = card().getByLabel("Tell the agent why (optional)");
  await isFocused(reason);
  await page.keyboard.type("Not before Friday");
  await page.keyboard.press("Escape");
  await reason.waitFor({ state: "detached" });
  await isFocused(button("Deny…"));
  await page.reload();
  await button("Deny…").click();
  await hasValue(reason, "Not before Friday");
  await reason.press("Enter");
  await finished();
  assert.deepEqual([decisions()[0].decision, decisions()[0].reason], ["deny", "Not before Friday"]);
});

test("several requests are one list; each can be read, and those of a kind allowed together", async () => {
  await begin("several");
  await dock().getByText("5 requests are waiting").waitFor();
  const entry = (name) => dock().getByRole("list").first().getByRole("button", { name });
  await entry(/A draft/).click();
  await card().getByText("Changes /report.md").waitFor();
  await until("the diff has the lines around it", async () => (await card().locator("tr").count()) === 8);
  assert.deepEqual(await card().locator("tr.removed .line").allInnerTexts(), ["A draft."]);
  assert.deepEqual(await card().locator("tr.added .line").allInnerTexts(), ["The final version."]);
  await check(page, "a diff to approve");
  await entry(/plan\.py/).click();
  await card().getByText("New file /notes/plan.py").waitFor();
  await card().locator(".hljs-keyword", { hasText: "def" }).waitFor();
  await entry(/Run a command/).click();
  await card().locator(".hljs-keyword", { hasText: "done" }).waitFor();
  await entry(/Which format/).click();
  await card().getByRole("button", { name: "Plain text" }).waitFor();
  await isUsable();

  // An edited call is not among those that are allowed together.
  await entry(/A draft/).click();
  await button("Edit").click();
  await card().getByLabel("New text").fill("The last version.");
  await dock().getByRole("button", { name: "Allow all 2 edits" }).waitFor({ state: "detached" });
  await button("Reset").click();
  await dock().getByRole("button", { name: "Allow all 2 edits" }).press("Enter");
  await dock().getByText("3 requests are waiting").waitFor();
  assert.deepEqual(
    decisions().map(({ decision }) => decision),
    ["allow", "allow"],
  );
  await isFocused(card());

  // Held down, the key decides one.
  await page.keyboard.down("Control");
  await page.keyboard.down("Alt");
  for (let repeat = 0; repeat < 5; repeat += 1) await page.keyboard.down("Enter");
  for (const key of ["Enter", "Alt", "Control"]) await page.keyboard.up(key);
  await dock().getByText("2 requests are waiting").waitFor();
  await page.waitForTimeout(300);
  assert.equal(decisions().length, 3);

  await card().getByRole("button", { name: "Plain text" }).or(button("Allow once")).first().click();
  await card().getByRole("button", { name: "Plain text" }).or(button("Allow once")).first().click();
  await finished();
  await isFocused(page.locator("#composer"));
});

test("a card that comes up under the pointer does not take a double click", async () => {
  await begin("several");
  await dock().getByText("5 requests are waiting").waitFor();
  await button("Allow once").dblclick();
  await dock().getByText("4 requests are waiting").waitFor();
  assert.equal(decisions().length, 1);
});
