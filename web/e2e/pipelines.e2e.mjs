/** The pipelines with the real program: a title that comes after the answer, what could be said next, completion of what is
 *  written, and the administrator's page. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

const NOTES = {
  title: "🌱 How Plants Grow",
  tags: ["science"],
  follow_ups: ["Which plants need the least light?", "And fungi?"],
};
const CASES = [
  { contains: "Read the chat at the end", turns: [turn(text(JSON.stringify(NOTES)))] },
  { contains: "Somebody is writing the text", turns: [turn(text('{"text": " grow in the dark?"}'))] },
  { contains: "And fungi?", turns: [turn(text("Fungi eat what others made."))] },
  { contains: "", turns: [turn(text("By eating **light**."))] },
];
const ON = Object.fromEntries(
  ["TITLE", "TAGS", "FOLLOW_UP"].map((name) => [`GLASSHOUSE_PIPELINES_ENABLE_${name}_GENERATION`, "true"]),
);

let browser, model, glasshouse, page;

before(async () => {
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(CASES), startGlasshouse(ON)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
after(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

const field = () => page.getByLabel("Message", { exact: true });
const next = () => page.getByRole("list", { name: "What you could say next" });
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/pipelines-${name}.png` });
}

test("a chat gets its title and what could be said next after the answer", async () => {
  await field().fill("How do plants grow?");
  await page.keyboard.press("Enter");
  await page.getByText("light", { exact: true }).waitFor();
  const sidebar = page.getByRole("navigation").first();
  await sidebar.getByText(NOTES.title).waitFor();
  await next().getByRole("button", { name: "And fungi?", exact: true }).waitFor();
  await check(page, "what could be said next");
  await picture("answer");
  await page.reload();
  await next().getByRole("button", { name: "Edit first: And fungi?" }).click();
  assert.equal(await field().inputValue(), "And fungi?");
  await field().fill("");
  await next().getByRole("button", { name: "And fungi?", exact: true }).click();
  await page.getByText("Fungi eat what others made.").waitFor();
});

test("an administrator turns completion on, and looks at what a template asks", async () => {
  await page.goto("/settings/pipelines");
  await page.getByRole("switch", { name: "Autocomplete" }).click();
  await page.getByText("Saved").first().waitFor();
  await page.getByLabel("Answers of one model").selectOption("2");
  await page.getByText("Saved").last().waitFor();
  await page.getByLabel("Layers of answers").selectOption("3");
  const set = async () => (await (await page.request.get("/api/v1/tasks/config")).json()).MOA_LAYERS;
  for (let tries = 0; (await set()) !== 3; tries += 1) assert.ok(tries < 100, "the layers are not saved");
  await page.reload();
  assert.equal(await page.getByLabel("Layers of answers").inputValue(), "3");
  assert.equal(await page.getByLabel("Answers of one model").inputValue(), "2");
  await page.getByLabel("Layers of answers").scrollIntoViewIfNeeded();
  await picture("layers");
  await page.getByRole("button", { name: "Change: Title" }).click();
  const template = page.getByLabel("Template");
  await template.fill("A title for {{prompt}}\n {{NOBODY}}");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Line 2, column 2: There is no variable NOBODY.").waitFor();
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "Ask the model" }).click();
  await page.getByText('"title": "🌱 How Plants Grow"').waitFor();
  await check(page, "the pipelines");
  await picture("settings");
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("how answers are merged is set on a phone, in any language and theme", async () => {
  const { cookies } = await page.context().storageState();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    preferences: { language: "ru", theme: "dark" },
  });
  await phone.goto("/settings/pipelines");
  const layers = phone.getByLabel("Слои ответов");
  await layers.scrollIntoViewIfNeeded();
  assert.equal(await layers.inputValue(), "3");
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390);
  await check(phone, "the pipelines on a phone");
  const folder = process.env.E2E_PICTURES;
  if (folder) await phone.screenshot({ path: `${folder}/pipelines-phone.png` });
  assert.deepEqual(phone.complaints, []);
  await phone.context().close();
});

test("what is written is completed: the right arrow takes a word, Tab the rest", async () => {
  await page.goto("/");
  await field().pressSequentially("Can mushrooms");
  await page.locator(".ghost").getByText("grow in the dark?").waitFor();
  await picture("ghost");
  await page.keyboard.press("ArrowRight");
  assert.equal(await field().inputValue(), "Can mushrooms grow");
  await page.locator(".ghost").getByText("in the dark?").waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await field().inputValue(), "Can mushrooms grow in the dark?");
  await field().fill("");
  // The wrong template was refused.
  assert.deepEqual(
    page.complaints.filter((words) => !words.includes("400 (Bad Request)")),
    [],
  );
});
