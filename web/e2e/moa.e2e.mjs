/**
 * Alternative answers with the real program: several models are asked, their columns stream, one fails, and they are
 * merged into one answer that lists them.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const SAID =
  "Plants make sugar out of **light**, water and air. The light is caught by chlorophyll in their leaves.";
const CASES = [
  { contains: "### Answers:", turns: [turn(text("Both agree: plants live on **light**.", 20))] },
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
const dialog = () => page.getByRole("dialog", { name: "Ask others" });

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/moa-${name}.png` });
}

async function say(words) {
  await page.goto("/");
  await field().fill(words);
  await page.keyboard.press("Enter");
}

async function askOthers() {
  await page.getByRole("button", { name: "Ask others" }).last().click();
  await dialog().waitFor();
}

test("samples of one model stream side by side and become one answer", async () => {
  await say("How do plants live?");
  await askOthers();
  await hasValue(dialog().getByLabel("Answers from each"), "3");
  await check(page, "asking others");
  await picture("dialog");
  await dialog().getByRole("button", { name: "Ask for 3 answers" }).click();
  // Each can be stopped while streaming.
  await column(4).getByRole("button", { name: "Stop answer 4" }).waitFor();
  await column(2).getByText("Plants make").waitFor();
  await picture("streaming");
  for (const number of [1, 2, 3, 4]) await column(number).getByText("in their leaves.").waitFor();
  await page.getByRole("button", { name: "Merge (4 answers)" }).waitFor();
  await check(page, "answers side by side");
  await picture("ended");
  await column(1).getByText("Chosen").waitFor();
  await column(2).getByRole("button", { name: "Go on with this" }).click();
  await column(2).getByText("Chosen").waitFor();
  await page.getByRole("button", { name: "Merge (4 answers)" }).click();
  await page.getByText("Made of 4 answers").waitFor();
  await page.getByText("Both agree: plants live on").waitFor();
  const costs = page.getByRole("list", { name: "What it cost" });
  await costs.getByText("Together").waitFor();
  assert.equal(await costs.getByRole("listitem").count(), 6);
  // All of them count, not only the visible one.
  const used = page.locator("header .used");
  assert.equal((await used.innerText()).trim(), "800 tokens");
  assert.match(
    await used.getAttribute("title"),
    /^All answers .* 800 tokens.*\. Those on this page: 160 tokens/,
  );
  await check(page, "a merged answer");
  await picture("merged");
});

test("a reload shows the same, and the answers behind it", async () => {
  await page.reload();
  await page.getByText("Both agree: plants live on").waitFor();
  assert.equal(await columns().count(), 0);
  await page.getByRole("button", { name: "Made of 4 answers" }).click();
  for (const number of [1, 2, 3, 4]) await column(number).getByText("in their leaves.").waitFor();
  await column(3).getByRole("button", { name: "Go on with this" }).click();
  await column(3).getByText("Chosen").waitFor();
  await page.reload();
  await column(3).getByText("Chosen").waitFor();
});

test("one that fails and one that is stopped disturb no other", async () => {
  await say("How do plants live?");
  await page.getByText("in their leaves.").waitFor();
  await askOthers();
  // The other model of that name, on its own server.
  await dialog().getByRole("checkbox").nth(1).check();
  await dialog().getByRole("button", { name: "Ask for 2 answers" }).click();
  await columns().getByText("not today").waitFor();
  await column(2).getByText("in their leaves.").waitFor();
  await picture("failed");
  await page.getByRole("button", { name: "Merge (2 answers)" }).click();
  await page.getByText("Both agree: plants live on").waitFor();
  await say("Answer slowly.");
  await page.getByText("It begins,").waitFor();
  await page.locator("[data-stop]").click();
  await askOthers();
  await dialog().getByLabel("Answers from each").fill("2");
  await dialog().getByRole("button", { name: "Ask for 2 answers" }).click();
  await column(2).getByText("It begins,").waitFor();
  await column(2).getByRole("button", { name: "Stop answer 2" }).click();
  await column(2).getByText("Stopped").waitFor();
  await column(3).getByRole("button", { name: "Stop answer 3" }).waitFor();
  // The composer's button stops the remaining ones.
  await page.locator("[data-stop]").click();
  await column(3).getByText("Stopped").waitFor();
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
  const row = page.getByRole("group", { name: "Ответы рядом" });
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
