/**
 * Alternative answers with the real program: several models are asked, their columns stream, one fails, and they are
 * merged into one answer that lists them.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const SAID =
  "Plants make sugar out of **light**, water and air. The light is caught by chlorophyll in their leaves.";
const LONG = Array.from({ length: 90 }, (_, line) => `Paragraph ${line + 1} of it.`).join("\n\n");
const CASES = [
  { contains: "### Answers:", turns: [turn(text("Both agree: plants live on **light**.", 20))] },
  {
    contains: "At length",
    turns: [turn(text(LONG, 2000)), turn(pause(1_500), text(LONG, 60))],
  },
  { contains: "slowly", turns: [turn(text("It begins, ", 40), pause(60_000), text("and ends."))] },
  { contains: "", turns: [turn(text(SAID, 25))] },
];
const FAILING = [{ contains: "", turns: [{ status: 400, headers: {}, body: "not today" }] }];

let browser, model, failing, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, failing, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startModel(FAILING),
    startGlasshouse(),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
  const made = await page.request.post("/api/v1/connections", {
    data: { name: "Failing", base_url: failing.url },
  });
  assert.ok(made.ok(), await made.text());
  await page.reload();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
  await failing?.stop();
});

const field = () => page.getByLabel("Message", { exact: true });
const columns = () => page.getByRole("group", { name: "Answers side by side" });
const column = (number) => columns().getByRole("region", { name: new RegExp(`^Answer ${number}:`) });
const head = (number) => columns().locator(`[data-head="${number}"]`);
const dialog = () => page.getByRole("dialog", { name: "Compare", exact: true });
const menu = () => page.getByRole("dialog", { name: "Compare with…" });

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/moa-${name}.png` });
}

async function say(words) {
  await page.goto("/");
  await field().fill(words);
  await page.keyboard.press("Enter");
}

async function openMenu() {
  await page.getByRole("button", { name: "Compare with…" }).last().click();
  await menu().waitFor();
}

async function askOthers() {
  await openMenu();
  await menu().getByRole("button", { name: "Advanced…" }).click();
  await dialog().waitFor();
}

test("samples of one model stream side by side and become one answer", async () => {
  await say("How do plants live?");
  await askOthers();
  await hasValue(dialog().getByLabel("Answers per model"), "3");
  await check(page, "asking others");
  await picture("dialog");
  await dialog().getByRole("button", { name: "Get 3 answers" }).click();
  // Each can be stopped while streaming.
  await head(4).getByRole("button", { name: "Stop answer 4" }).waitFor();
  await column(2).getByText("Plants make").waitFor();
  await picture("streaming");
  for (const number of [1, 2, 3, 4]) await column(number).getByText("in their leaves.").waitFor();
  await page.getByRole("button", { name: "Merge 4 answers" }).waitFor();
  await check(page, "answers side by side");
  await picture("ended");
  await head(1).getByText("In use").waitFor();
  // All of it is in view.
  await page.getByRole("button", { name: "Jump to latest message" }).waitFor({ state: "detached" });
  await head(2).getByRole("button", { name: "Use this answer" }).click();
  await head(2).getByText("In use").waitFor();
  await page.getByRole("button", { name: "Merge 4 answers" }).click();
  await page.getByText("Merged from 4 answers").waitFor();
  await page.getByText("Both agree: plants live on").waitFor();
  const costs = page.getByRole("list", { name: "Cost" });
  await costs.getByText("Total").waitFor();
  assert.equal(await costs.getByRole("listitem").count(), 6);
  // All of them count, not only the visible one.
  const used = page.locator("header .used");
  assert.equal((await used.innerText()).trim(), "800 tokens");
  assert.match(await used.getAttribute("title"), /^All answers .* 800 tokens.*\. On this branch: 160 tokens/);
  await check(page, "a merged answer");
  await picture("merged");
});

test("a reload shows the same, and the answers behind it", async () => {
  await page.reload();
  await page.getByText("Both agree: plants live on").waitFor();
  assert.equal(await columns().count(), 0);
  await page.getByRole("button", { name: "Merged from 4 answers" }).click();
  for (const number of [1, 2, 3, 4]) await column(number).getByText("in their leaves.").waitFor();
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
  await head(3).getByRole("button", { name: "Use this answer" }).click();
  await head(3).getByText("In use").waitFor();
  await saved;
  await page.reload();
  await head(3).getByText("In use").waitFor();
});

test("another model answers with two clicks, and the answers are in view under their names", async () => {
  // The models of a server may include some that do not chat.
  await page.route("**/api/v1/models", async (route) => {
    const response = await route.fetch();
    const list = await response.json();
    const [first] = list.models;
    const listed = { ...first.listed, abilities: { chat: false } };
    list.models.push({ ...first, listed, id: "nomic-embed-text", name: "nomic-embed-text" });
    await route.fulfill({ json: list });
  });
  await say("At length, please.");
  await page.getByText("Paragraph 90 of it.").waitFor();
  await openMenu();
  await check(page, "the menu of models to compare with");
  await picture("menu");
  assert.equal(await menu().getByText("nomic-embed-text").count(), 0);
  await menu().getByRole("button", { name: "scripted" }).first().click();
  const top = async (locator) => (await locator.boundingBox())?.y ?? -1;
  await head(2).locator(".spinner").waitFor();
  const thread = page.getByRole("log");
  const from = await top(thread);
  await until("the heads are at the top", async () => (await top(head(1))) - from < 60);
  await column(2).getByText("Paragraph 3 of it.").waitFor();
  await picture("in-view");
  // It grows far below the window, and the page does not follow.
  await column(2).getByText("Paragraph 40 of it.").waitFor({ state: "attached" });
  assert.ok((await top(head(2))) - from < 60, "the heads have stayed");
  assert.ok((await column(2).boundingBox()).width >= 360);
  await thread.hover();
  await page.mouse.wheel(0, 900);
  await until("the page is scrolled", async () => (await top(column(2))) < from - 300);
  assert.ok(Math.abs((await top(head(2))) - from) < 3, "the heads stick to the top");
  await head(2).getByRole("button", { name: "Use this answer" }).waitFor();
  await check(page, "long answers side by side");
  await page.unroute("**/api/v1/models");
});

test("columns too many for the window are scrolled sideways with their heads", async () => {
  await askOthers();
  await dialog().getByLabel("Answers per model").fill("3");
  await dialog().getByRole("button", { name: "Get 3 answers" }).click();
  await head(5).waitFor();
  const left = async (locator) => Math.round((await locator.boundingBox()).x);
  // The first of the new ones is in view.
  await until("it is in view", async () => {
    const box = await column(3).boundingBox();
    return box.x >= 0 && box.x + box.width <= 1440;
  });
  for (const number of [3, 4, 5]) {
    await head(number).getByRole("button", { name: "Use this answer" }).waitFor();
    assert.ok((await column(number).boundingBox()).width >= 360);
  }
  const row = columns().locator(".columns");
  await row.evaluate((row) => (row.scrollLeft = row.scrollWidth));
  await until("the heads follow", async () => (await left(head(5))) === (await left(column(5))));
  await row.evaluate((row) => (row.scrollLeft = 0));
  await until("and come back", async () => (await left(head(1))) === (await left(column(1))));
  // The keyboard reaches a head out of view, and the column comes along.
  await head(5).getByRole("button", { name: "Use this answer" }).focus();
  await until("the column follows", async () => (await left(head(5))) === (await left(column(5))));
});

test("one that fails and one that is stopped disturb no other", async () => {
  await say("How do plants live?");
  await page.getByText("in their leaves.").waitFor();
  await askOthers();
  // The other model of that name, on its own server.
  await dialog().getByRole("checkbox").nth(1).check();
  await dialog().getByRole("button", { name: "Get 2 answers" }).click();
  await columns().getByText("not today").waitFor();
  await column(2).getByText("in their leaves.").waitFor();
  await picture("failed");
  await page.getByRole("button", { name: "Merge 2 answers" }).click();
  await page.getByText("Both agree: plants live on").waitFor();
  await say("Answer slowly.");
  await page.getByText("It begins,").waitFor();
  await page.locator("[data-stop]").click();
  await askOthers();
  await dialog().getByLabel("Answers per model").fill("2");
  await dialog().getByRole("button", { name: "Get 2 answers" }).click();
  await column(2).getByText("It begins,").waitFor();
  await head(2).getByRole("button", { name: "Stop answer 2" }).click();
  await column(2).getByText("You stopped this answer.").waitFor();
  await head(3).getByRole("button", { name: "Stop answer 3" }).waitFor();
  // The composer's button stops the remaining ones.
  await page.locator("[data-stop]").click();
  await column(3).getByText("You stopped this answer.").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("on a phone the columns are swiped, in any language and theme", async () => {
  const { cookies } = await page.context().storageState();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    preferences: { language: "ru", theme: "dark" },
  });
  const desktop = page;
  page = phone;
  const chats = (await (await page.request.get("/api/v1/chats")).json()).chats;
  await page.goto(`/c/${chats.at(-1).id}`);
  const row = page.getByRole("group", { name: "Сравнение ответов" });
  await row.getByRole("region").first().waitFor();
  const box = await row.getByRole("region").first().boundingBox();
  assert.ok(box.width > 230 && box.width < 370, `${box.width}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(wide, 390);
  await check(page, "answers side by side on a phone");
  await picture("phone");
  page = desktop;
  await phone.context().close();
});
