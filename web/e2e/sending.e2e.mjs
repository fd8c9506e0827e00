/**
 * Sending before the page is ready, with the real program: the message is sent as soon as possible, once, and in the
 * right place.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel([{ contains: "", turns: [turn(text("Here it is."))] }]),
    startGlasshouse(),
  ]);
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
const waiting = () => page.getByRole("button", { name: /^Sends in a moment/ });
const send = () => page.getByRole("button", { name: "Send", exact: true });
const answered = () => page.getByText("Here it is.").last().waitFor();
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/sending-${name}.png` });
}

/** Holds back responses from this URL until the returned function is called with how to handle them. */
async function hold(address) {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  let isOver = false;
  await page.route(address, async (route) => {
    if (isOver || route.request().method() !== "GET") return route.fallback();
    return (await held) === "fail" ? route.fulfill({ status: 500, body: "" }) : route.fallback();
  });
  return (outcome) => {
    isOver = true;
    release(outcome);
  };
}

async function messages() {
  const id = new URL(page.url()).pathname.split("/").at(-1);
  return (await (await page.request.get(`/api/v1/chats/${id}`)).json()).messages;
}

test("Enter before the models are known sends as soon as they are", async () => {
  const release = await hold("**/api/v1/models");
  await page.goto("/");
  await field().fill("Where is it?");
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  // Pressing Enter again neither sends a second message nor cancels the first.
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  await check(page, "a message that waits");
  await picture("waits");
  await hasValue(field(), "Where is it?");
  release();
  await answered();
  assert.equal(await field().inputValue(), "");
  assert.equal((await messages()).length, 2);
});

test("Enter before the chat is shown goes on from its last answer", async () => {
  const release = await hold("**/api/v1/chats/*");
  await page.reload();
  await field().fill("And the other one?");
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  release();
  await page.getByText("Here it is.").nth(1).waitFor();
  const [, first, second] = await messages();
  assert.equal(second.parent, first.id);
});

test("what changes meanwhile, and what is taken back, stays", async () => {
  const release = await hold("**/api/v1/models");
  await page.goto("/");
  await field().fill("Where");
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  await field().pressSequentially(" is");
  await send().waitFor();
  await send().click();
  await waiting().click();
  await send().waitFor();
  release();
  await page
    .getByRole("button", { name: /choose a model/ })
    .first()
    .waitFor();
  await hasValue(field(), "Where is");
  await page.keyboard.press("Enter");
  await answered();
});

test("models that do not come are asked for again", async () => {
  const release = await hold("**/api/v1/models");
  await page.goto("/");
  await field().fill("Where is it?");
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  release("fail");
  await page.getByRole("alert").first().waitFor();
  await send().waitFor();
  await hasValue(field(), "Where is it?");
  await field().press("Enter");
  await answered();
  page.complaints.length = 0; // for the response that was not delivered
});

test("a file that is on its way is waited for", async () => {
  const release = await hold("**/documents");
  await page.goto("/");
  const content = {
    name: "seal.md",
    mimeType: "text/markdown",
    buffer: Buffer.from("# The seal\n\nIt sleeps.\n"),
  };
  await page.locator(".composer input[type=file]").setInputFiles([content]);
  await field().fill("What does it do?");
  await page.getByText("Processing").waitFor();
  await page.keyboard.press("Enter");
  await waiting().waitFor();
  await picture("file");
  release();
  await answered();
  await page.locator(".mine").getByRole("link", { name: "seal.md" }).waitFor();
  assert.deepEqual(page.complaints, []);
});

test("it is seen on a phone, in any language and theme", async () => {
  const desktop = page;
  const { cookies } = await page.context().storageState();
  page = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    preferences: { language: "ru", theme: "dark" },
  });
  const release = await hold("**/api/v1/models");
  await page.goto("/");
  await page.getByLabel("Сообщение", { exact: true }).fill("Где это?");
  await page.getByRole("button", { name: "Отправить", exact: true }).click();
  await page.getByRole("button", { name: /^Будет отправлено/ }).waitFor();
  await check(page, "a message that waits, on a phone");
  await picture("phone");
  release();
  await answered();
  await page.context().close();
  page = desktop;
});
