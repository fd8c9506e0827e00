/**
 * Pipelines with the real program: titles generated after the answer, follow-up suggestions, autocompletion, and the
 * administrator's page.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const NOTES = {
  title: "🌱 How Plants Grow",
  tags: ["science"],
  follow_ups: ["Which plants need the least light?", "And fungi?"],
};
const CASES = [
  { contains: "Read the chat at the end", turns: [turn(text(JSON.stringify(NOTES)))] },
  { contains: "A person is writing the text", turns: [turn(text('{"text": " grow in the dark?"}'))] },
  { contains: "And fungi?", turns: [turn(text("Fungi eat what others made."))] },
  { contains: "", turns: [turn(text("By eating **light**."))] },
];
const ON = Object.fromEntries(
  ["TITLE", "TAGS", "FOLLOW_UP"].map((name) => [`GLASSHOUSE_PIPELINES_ENABLE_${name}_GENERATION`, "true"]),
);

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(CASES), startGlasshouse(ON)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

const field = () => page.getByLabel("Message", { exact: true });
const next = () => page.getByRole("list", { name: "Suggested follow-ups" });
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
  await hasValue(field(), "And fungi?");
  await field().fill("");
  await next().getByRole("button", { name: "And fungi?", exact: true }).click();
  await page.getByText("Fungi eat what others made.").waitFor();
});

const config = async () => (await page.request.get("/api/v1/tasks/config")).json();
const untilSet = (name, value) => until(`${name} is ${value}`, async () => (await config())[name] === value);

test("an administrator turns completion on, and looks at what a template asks", async () => {
  await page.goto("/settings/pipelines");
  await page.getByRole("switch", { name: "Autocomplete" }).click();
  await page.getByText("Saved").first().waitFor();
  await page.getByLabel("Answers per model").selectOption("2");
  await page.getByText("Saved").last().waitFor();
  await page.getByLabel("Layers").selectOption("3");
  await untilSet("MOA_LAYERS", 3);
  await page.reload();
  await hasValue(page.getByLabel("Layers"), "3");
  await hasValue(page.getByLabel("Answers per model"), "2");
  await page.getByLabel("Layers").scrollIntoViewIfNeeded();
  await picture("layers");
  // Numbers are saved on change; an empty field means any length. The second is entered before the response to the
  // first.
  await page.route("**/tasks/config/update", async (route) => {
    const response = await route.fetch();
    await new Promise((later) => setTimeout(later, 300));
    await route.fulfill({ response });
  });
  for (const [label, typed, name, value] of [
    ["Max text length", "500", "AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH", 500],
    ["Max text length", "", "AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH", -1],
    ["Max passages", "3", "RAG_TOP_K", 3],
    ["Code retries", "0", "CODE_INTERPRETER_MAX_RETRIES", 0],
  ]) {
    await page.getByLabel(label).fill(typed);
    await page.getByLabel(label).press("Enter");
    await untilSet(name, value);
  }
  await page.unrouteAll({ behavior: "wait" });
  await page.getByLabel("Max passages").fill("51");
  await page.getByText("Enter a whole number from 1 to 50.").waitFor();
  await page.getByRole("switch", { name: "In the system message" }).click();
  await untilSet("RAG_SYSTEM_CONTEXT", true);
  assert.equal((await config()).RAG_TOP_K, 3, "what is no such number is not set");
  await page.reload();
  await hasValue(page.getByLabel("Max passages"), "3");
  assert.equal(await page.getByLabel("Max text length").inputValue(), "");
  await page.getByLabel("Max passages").scrollIntoViewIfNeeded();
  await picture("numbers");
  await page.getByRole("button", { name: "Edit: Title" }).click();
  const template = page.getByLabel("Template");
  await template.fill("A title for {{prompt}}\n {{NOBODY}}");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.getByText("Line 2, column 2: Unknown variable: NOBODY.").waitFor();
  await template.fill("A title for {{SOMEBODY}}");
  await page.getByRole("button", { name: "Save" }).click();
  // The error is shown next to the input, which is kept.
  await page.getByRole("alert").getByText("Line 1, column 13: Unknown variable: SOMEBODY.").waitFor();
  await hasValue(template, "A title for {{SOMEBODY}}");
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByRole("button", { name: "Test with model" }).click();
  await page.getByText('"title": "🌱 How Plants Grow"').waitFor();
  await check(page, "the pipelines");
  await picture("settings");
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("an administrator chooses the model for all tasks", async () => {
  assert.equal((await config()).TASK_MODEL, "");
  await page.getByLabel("Task model", { exact: true }).selectOption("scripted");
  await untilSet("TASK_MODEL", "scripted");
  await page.reload();
  await hasValue(page.getByLabel("Task model", { exact: true }), "scripted");
  assert.equal(await page.getByLabel("External task model").inputValue(), "");
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
  const layers = phone.getByLabel("Слои");
  await layers.scrollIntoViewIfNeeded();
  await hasValue(layers, "3");
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390);
  await check(phone, "the pipelines on a phone");
  const folder = process.env.E2E_PICTURES;
  if (folder) await phone.screenshot({ path: `${folder}/pipelines-phone.png` });
  await phone.getByLabel("Максимум отрывков").scrollIntoViewIfNeeded();
  if (folder) await phone.screenshot({ path: `${folder}/pipelines-phone-numbers.png` });
  // Errors in an answer are translated, too.
  await phone.getByRole("button", { name: "Изменить: Поисковые запросы" }).click();
  await phone.getByRole("button", { name: "Проверить на модели" }).click();
  await phone.getByText("нет объекта JSON с полем queries").first().waitFor();
  assert.deepEqual(phone.complaints, []);
  await phone.context().close();
});

test("what is written is completed: the right arrow takes a word, Tab the rest", async () => {
  await page.goto("/");
  await field().pressSequentially("Can mushrooms");
  await page.locator(".ghost").getByText("grow in the dark?").waitFor();
  await picture("ghost");
  await page.keyboard.press("ArrowRight");
  await hasValue(field(), "Can mushrooms grow");
  await page.locator(".ghost").getByText("in the dark?").waitFor();
  await page.keyboard.press("Tab");
  await hasValue(field(), "Can mushrooms grow in the dark?");
  await field().fill("");
});

const ghost = () => page.locator(".ghost");

test("what is offered belongs to the end of the text, and to text that stands", async () => {
  await field().pressSequentially("Can mushrooms");
  await ghost().waitFor();
  await page.keyboard.press("Home");
  await ghost().waitFor({ state: "detached" });
  await field().fill("");
  const asked = [];
  page.on(
    "request",
    (request) => request.url().includes("/auto/") && asked.push(request.postDataJSON().prompt),
  );
  // The input method is still composing these letters; it commits with the next ones.
  const session = await page.context().newCDPSession(page);
  await session.send("Input.imeSetComposition", { text: "にほんご", selectionStart: 4, selectionEnd: 4 });
  await page.waitForTimeout(800);
  await session.send("Input.insertText", { text: "日本語の本" });
  await ghost().waitFor();
  assert.deepEqual(asked, ["日本語の本"]);
  await field().fill("");
  // The invalid templates were rejected.
  assert.deepEqual(
    page.complaints.filter((words) => !words.includes("400 (Bad Request)")),
    [],
  );
});

test("on a phone a tap takes what is offered, however long it is", async () => {
  const { cookies } = await page.context().storageState();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
  });
  await phone.goto("/");
  const area = phone.locator("#composer");
  await area.pressSequentially("Can the mushrooms of the north");
  const offered = phone.locator(".ghost .offered");
  await offered.waitFor();
  const fonts = await phone.evaluate(() =>
    ["#composer", ".ghost"].map((name) => getComputedStyle(document.querySelector(name)).font),
  );
  assert.equal(fonts[0], fonts[1]);
  const [shown, box] = [await offered.boundingBox(), await phone.locator(".ghost").boundingBox()];
  assert.ok(shown.y + shown.height <= box.y + box.height, "it is cut off");
  if (process.env.E2E_PICTURES)
    await phone.screenshot({ path: `${process.env.E2E_PICTURES}/pipelines-phone-ghost.png` });
  await offered.tap();
  await hasValue(area, "Can the mushrooms of the north grow in the dark?");
  assert.equal(await area.evaluate((element) => element === document.activeElement), true);
  await phone.context().close();
});
