/**
 * Keys, usage and limits with the real program: a front end's key is created, used, limited, shown in the usage,
 * rotated.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { copiedBy, isAsked, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, key, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse(),
    startModel([{ turns: [turn(text("Hello."))] }]),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

/** A request of the front end on behalf of one of its users. */
const ask = (person) =>
  fetch(`${glasshouse.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "x-openwebui-user-id": person },
    body: JSON.stringify({ model: "scripted", messages: [{ role: "user", content: "Hi" }] }),
  });

test("a key of a front end is made, and is for models only", async () => {
  await page.goto("/settings/keys");
  await page.getByText("Restrictions").click();
  await page.getByLabel("Name", { exact: true }).fill("Open WebUI");
  await page.getByLabel("Permissions").selectOption("only");
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByRole("switch", { name: "Trusted front end" }).click();
  await page.getByText("Advanced", { exact: true }).click();
  await page.getByText("Advanced: Trusted front end").waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  key = await page.locator(".secret code").textContent();
  await page.getByText("Use models and agents · Trusted front end").waitFor();
  assert.equal((await ask("ann")).status, 200);
  const refused = await fetch(`${glasshouse.url}/api/v1/chats`, {
    headers: { authorization: `Bearer ${key}` },
  });
  assert.equal(refused.status, 403);
});

test("a new key comes with a command that works, and the base URL for SDKs", async () => {
  await page.getByLabel("Name", { exact: true }).fill("shell");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Try it in a shell").waitFor();
  const command = await copiedBy(page.getByRole("button", { name: "Copy the command" }));
  assert.ok(command.startsWith(`curl '${glasshouse.url}/v1/chat/completions'`), command);
  const { stdout } = await promisify(execFile)("bash", ["-c", command]);
  // The scripted model always streams.
  assert.match(stdout, /"object":\s*"chat\.completion/);
  const base = await copiedBy(page.getByRole("button", { name: "Copy the base URL for OpenAI SDKs" }));
  assert.equal(base, `${glasshouse.url}/v1`);
  await check(page, "a new key");
  await isAsked(page.getByRole("button", { name: "Delete: shell" }), "Delete");
  await page.getByText("Try it in a shell").waitFor({ state: "detached" });
});

test("models of a key are chosen from a list; a closed fold says what it holds", async () => {
  await page.getByLabel("Name", { exact: true }).fill("one model");
  const models = page.getByRole("group", { name: "Models and agents" });
  await models.getByRole("radio", { name: "Selected" }).check({ force: true });
  await models.getByRole("checkbox", { name: "scripted" }).check();
  await page.getByText("Restrictions", { exact: true }).click();
  await page.getByText("Restrictions: Use models and agents, scripted").waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Use models and agents · scripted").waitFor();
  await isAsked(page.getByRole("button", { name: "Delete: one model" }), "Delete");
});

test("each of its people has a limit", async () => {
  await page.goto("/settings/limits");
  await page.getByRole("button", { name: "Edit: Each user of Open WebUI" }).click();
  const form = page.getByRole("listitem").locator("form");
  await form.getByRole("group", { name: "Per day" }).getByLabel("Requests").fill("2");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByText("Per day: Requests 2").waitFor();
  const last = await ask("ann");
  assert.deepEqual([last.status, last.headers.get("x-ratelimit-remaining-requests")], [200, "0"]);
  assert.equal((await ask("ann")).status, 429);
  assert.equal((await ask("bob")).status, 200);
});

test("what they used is shown", async () => {
  await page.goto("/settings/usage");
  await page.getByLabel("Group by").selectOption("person");
  const ann = page.getByRole("row").filter({ hasText: "ann" });
  await ann.getByRole("cell", { name: "2", exact: true }).waitFor();
  await page.getByRole("img", { name: /^Tokens per day, / }).waitFor();
  await ann.getByRole("cell", { name: "no price set" }).waitFor();
  await page.getByRole("radio", { name: "Cost" }).check({ force: true });
  await page.getByText("No price is set for these models").waitFor();
  assert.equal(await page.getByText("$0.00").count(), 0);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as CSV" }).click();
  assert.match((await download).suggestedFilename(), /^usage-.*\.csv$/);
});

test("another secret locks the old one out", async () => {
  await page.goto("/settings/keys");
  await page.getByRole("button", { name: "Rotate secret: Open WebUI" }).click();
  await page.getByRole("combobox", { name: "Rotate secret" }).selectOption("0");
  await page.getByRole("dialog").getByRole("button", { name: "Rotate secret" }).click();
  await page.locator(".secret code").waitFor();
  assert.equal((await ask("bob")).status, 401);
  key = await page.locator(".secret code").textContent();
  assert.equal((await ask("bob")).status, 200);
});

test("whoever deletes it is told that the chats of its people become theirs, and they do", async () => {
  const words = "Where is the harbour?";
  const theirs = await fetch(`${glasshouse.url}/ag-ui`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "x-openwebui-user-id": "carol",
    },
    body: JSON.stringify({
      threadId: "one-of-hers",
      runId: "first",
      messages: [{ id: "1", role: "user", content: words }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: { model: "scripted" },
    }),
  });
  assert.match(await theirs.text(), /RUN_FINISHED/);
  const titles = async () => {
    const { chats } = await (await page.request.get("/api/v1/chats")).json();
    return chats.map(({ title }) => title);
  };
  assert.deepEqual(await titles(), []);
  await page.reload();
  const remove = page.getByRole("button", { name: "Delete: Open WebUI" });
  await remove.click();
  await page.getByText("its users’ chats and files become yours").waitFor();
  await page.keyboard.press("Escape");
  await isAsked(remove, "Delete");
  await page.getByText("No API keys yet").waitFor();
  assert.deepEqual(await titles(), [words]);
  assert.deepEqual(page.complaints, []);
});
