/**
 * The administrator's approval rules, with the real program: add, order, change, remove and undo; a rule stops the next
 * call, and rules of the configuration are only shown.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { callApi, connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  {
    contains: "Write the page",
    turns: [
      turn(calls(["write_file", { path: "/site/index.html", content: "<h1>Hello</h1>" }])),
      turn(text("Written.")),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(CASES), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const dialog = () => page.getByRole("dialog");
const button = (name) => dialog().getByRole("button", { name, exact: true });
const rows = () => page.getByRole("list", { name: "Approval rules" }).locator(":scope > li");
const row = (words) => rows().filter({ hasText: words });
/** The tools of the stored rules, in their order. */
async function order(from = page, url = glasshouse.url) {
  const { settings } = await callApi(from, url, "get", "/settings");
  return settings.find(({ name }) => name === "approvals").value;
}
const tools = async () => (await order()).map(({ tool }) => tool);
const becomes = (...wanted) =>
  until(`the rules ${wanted}`, async () => JSON.stringify(await tools()) === JSON.stringify(wanted));

async function picture(name, of = page) {
  if (process.env.E2E_PICTURES)
    await of.screenshot({ path: `${process.env.E2E_PICTURES}/approval-rules-${name}.png` });
}

test("a rule for a tool and one of its arguments", async () => {
  await page.goto("/settings/approval-rules");
  await page.getByText("No rules yet.").waitFor();
  await page.getByRole("button", { name: "Add rule" }).click();
  assert.ok(await button("Add rule").isDisabled());
  await dialog().getByLabel("Tool", { exact: true }).selectOption("write_file");
  await button("Add condition").click();
  assert.equal(await dialog().getByLabel("Argument").inputValue(), "path");
  assert.ok(await button("Add rule").isDisabled());
  await dialog().getByLabel("Pattern", { exact: true }).fill("/site/*");
  await dialog().getByText("Ask before write_file when path is /site/*").waitFor();
  await check(page, "the form of an approval rule");
  await picture("form");
  await button("Add rule").click();
  await dialog().waitFor({ state: "detached" });
  await row("Ask before write_file when path is /site/*").waitFor();
  assert.deepEqual(await order(), [{ tool: "write_file", arguments: { path: "/site/*" }, then: "ask" }]);
});

test("it is in force at once", async () => {
  await page.goto("/");
  await page.getByRole("textbox", { name: "Message" }).fill("Write the page");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByText("Written.").waitFor();
});

test("a pattern shows the tools that it matches, and Escape keeps what was typed", async () => {
  await page.goto("/settings/tools");
  await page.getByRole("button", { name: "Add rule" }).click();
  await dialog().getByLabel("Tool", { exact: true }).selectOption("By a pattern…");
  await dialog().getByLabel("Pattern for tool names").fill("*shout*");
  await dialog().getByText("No known tool matches.").waitFor();
  await dialog().getByLabel("Pattern for tool names").fill("*_file");
  const matches = dialog().getByRole("group", { name: /Matches \d known tools/ });
  await matches.getByText("delete_file").waitFor();
  assert.equal(await matches.getByText("shell").count(), 0);
  await dialog().getByLabel("Ask each time").check();
  await page.keyboard.press("Escape");
  await button("Keep editing").click();
  await check(page, "the form of a rule by a pattern");
  await picture("pattern");
  await button("Add rule").click();
  await dialog().waitFor({ state: "detached" });
  await row("Ask each time before *_file").getByText("known tools: ").waitFor();
});

test("rules are put in order with the keyboard, and one that never applies says so", async () => {
  await page.getByRole("button", { name: "Move rule 2 up" }).focus();
  await page.keyboard.press("Enter");
  await becomes("*_file", "write_file");
  // It is the first now, so the focus is on what can still be done with it.
  await until("the focus", () =>
    page.evaluate(() => document.activeElement?.ariaLabel === "Move rule 1 down"),
  );
  await row("write_file when").getByText("Never applies: rule 1").waitFor();
  await check(page, "the list of approval rules");
  await picture("list");
  await page.keyboard.press("Enter");
  await becomes("write_file", "*_file");
});

test("a rule is changed, removed and brought back", async () => {
  await page.getByRole("button", { name: "Edit rule 1" }).click();
  assert.ok(await button("Save").isDisabled());
  await dialog().getByLabel("Deny").check();
  await button("Remove condition 1").click();
  await button("Save").click();
  await row("Deny write_file").waitFor();
  assert.deepEqual((await order())[0], { tool: "write_file", then: "deny" });
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  await becomes("*_file");
  await page.getByRole("button", { name: "Undo" }).click();
  await becomes("write_file", "*_file");
});

test("what somebody else has changed meanwhile is not overwritten", async () => {
  const approvals = [{ tool: "shell", then: "allow" }, ...(await order())];
  await callApi(page, glasshouse.url, "patch", "/settings", { values: { approvals } });
  // It is still the first in this list, but the second now.
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  await becomes("shell", "*_file");
  await callApi(page, glasshouse.url, "patch", "/settings", { values: { approvals: null } });
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  await page.getByText("Someone else changed the rules").waitFor();
  await page.getByText("No rules yet.").waitFor();
});

test("rules of the configuration are only shown", async () => {
  const fixed = await startGlasshouse({ GLASSHOUSE_APPROVALS: '[{tool="*", then="deny"}]' });
  try {
    const there = await openPage(browser, { url: fixed.url });
    await setUp(there);
    await there.goto("/settings/approval-rules");
    await there.getByText("Deny every tool").waitFor();
    await there.getByText("Set by GLASSHOUSE_APPROVALS").waitFor();
    assert.equal(await there.getByRole("button", { name: /rule/ }).count(), 0);
    await check(there, "approval rules of the configuration");
    await there.context().close();
  } finally {
    await fixed.stop();
  }
});

test("the search of the settings leads there", async () => {
  await page.goto("/settings/general");
  await page.getByRole("combobox", { name: "Search settings" }).fill("approval rules");
  await page
    .getByRole("option", { name: /Approval rules/ })
    .first()
    .click();
  await page.waitForURL("**/settings/tools#approvalRules.title");
  assert.deepEqual(
    page.complaints.filter((text) => !text.includes("409")),
    [],
  );
});
