/**
 * Parameters of chats, agents and models with the real program: what is set reaches the model server, and nothing else.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, upstream, page;
const received = [];

/**
 * A model server that lists the parameters its model supports, as OpenRouter does, and rejects `top_p` although listed.
 */
function startUpstream() {
  const model = {
    id: "tiny",
    supported_parameters: ["temperature", "top_p", "stop", "max_tokens", "tools", "reasoning"],
    // In Anthropic's format.
    capabilities: {
      effort: { low: { supported: true }, high: { supported: true }, max: { supported: false } },
    },
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (status, value) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (request.method === "GET") return json(200, { data: [model] });
    const asked = JSON.parse(body);
    // Internal calls, such as for titles, are ignored.
    if (asked.messages.length > 1) received.push(asked);
    if ("top_p" in asked) {
      const message = "Unsupported parameter: 'top_p' is not supported with this model.";
      return json(400, { error: { message, param: "top_p", code: "unsupported_parameter" } });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const chunk = (delta, finish_reason = null) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    chunk({ content: "Yes." });
    chunk({}, "stop");
    response.end("data: [DONE]\n\n");
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const picture = async (page, name) => {
  if (process.env.E2E_PICTURES) {
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `${name}.png`) });
  }
};

test.beforeAll(async () => {
  [browser, glasshouse, upstream] = await Promise.all([launch(), startGlasshouse(), startUpstream()]);
  page = await openPage(browser, { url: glasshouse.url, preferences: { theme: "light" } });
  await setUp(page);
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Up", base_url: `http://127.0.0.1:${upstream.address().port}/v1` },
    headers: { origin: glasshouse.url },
  });
});
test.afterAll(async () => {
  await browser?.close();
  upstream?.close();
  await glasshouse?.stop();
});

const names = ["temperature", "top_p", "max_tokens", "stop", "seed", "reasoning_effort"];
/** The parameters of the last request. */
const sent = () =>
  Object.fromEntries(Object.entries(received.at(-1)).filter(([name]) => names.includes(name)));
const dialog = () => page.getByRole("dialog", { name: "Parameters" });
const save = () => dialog().getByRole("button", { name: "Save" });

async function say(words) {
  const answers = await page.getByText("Yes.").count();
  await page.getByLabel("Message", { exact: true }).fill(words);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Yes.").nth(answers).waitFor();
}

test("a chat begins with what was set before its first message", async () => {
  await page.goto("/");
  await page.getByRole("button", { name: "Parameters of this chat", exact: true }).press("Enter");
  await dialog().getByLabel("System prompt").fill("Answer like a pirate.");
  await dialog().getByLabel("Temperature").fill("7");
  await dialog().getByText("Enter a number from 0 to 2.").waitFor();
  assert.equal(await save().isDisabled(), true);
  await dialog().getByLabel("Temperature").fill("0,2");
  await dialog().getByLabel("Top P").fill("0.9");
  await dialog().getByLabel("Stop sequences").fill("END\n\\n\\n");
  const effort = dialog().getByLabel("Reasoning effort");
  const levels = () => effort.locator("option").allInnerTexts();
  assert.deepEqual(await levels(), ["Default", "None", "Low", "High"], "those that the model has");
  await effort.selectOption("High");
  const seed = dialog().getByLabel("Seed");
  assert.equal(await seed.isDisabled(), true);
  await dialog().getByText("Not supported by tiny").waitFor();
  await check(page, "the parameters");
  await picture(page, "parameters-light-en");
  await save().press("Enter");
  await dialog().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Parameters of this chat, changed" }).waitFor();
  await say("Hello");
  assert.deepEqual(sent(), { temperature: 0.2, stop: ["END", "\n\n"], reasoning_effort: "high" });
  assert.match(received.at(-1).messages[0].content, /Answer like a pirate\./);
});

test("what the model refuses is told, and remembered", async () => {
  assert.equal(received.length, 2);
  await page.getByText("The model was asked without “top_p”, which it does not accept here.").waitFor();
  await picture(page, "parameters-notice");
  await page.reload();
  await page.getByText("Yes.").waitFor();
  await say("Again");
  assert.equal(received.length, 3);
  assert.equal(sent().temperature, 0.2);
});

test("a level that the model lacks stays to be seen where it was set", async () => {
  const chat = new URL(page.url()).pathname.split("/").at(-1);
  const headers = { origin: glasshouse.url };
  const { parameters } = await (await page.request.get(`${glasshouse.url}/api/v1/chats/${chat}`)).json();
  const set = async (reasoning_effort) => {
    const data = { parameters: { ...parameters, reasoning_effort } };
    const kept = await page.request.patch(`${glasshouse.url}/api/v1/chats/${chat}`, { data, headers });
    assert.ok(kept.ok(), await kept.text());
    await page.reload();
    await page.getByRole("button", { name: "Parameters of this chat, changed" }).click();
  };
  await set("medium");
  const effort = dialog().getByLabel("Reasoning effort");
  await hasValue(effort, "medium");
  const levels = (await effort.locator("option").allInnerTexts()).map((level) => level.trim());
  assert.deepEqual(levels, ["Default", "None", "Low", "Medium (not supported)", "High"]);
  // For this parameter and the seed.
  await dialog().getByText("Not supported by tiny").nth(1).waitFor();
  await check(page, "a level that the model lacks");
  await picture(page, "parameters-lacking");
  await page.keyboard.press("Escape");
  await set("high");
  await hasValue(effort, "high");
  await dialog().getByText("Not supported by tiny").nth(1).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
});

test("one can go back to the defaults", async () => {
  await page.getByRole("button", { name: "Parameters of this chat, changed" }).click();
  await hasValue(dialog().getByLabel("Stop sequences"), "END\n\\n\\n");
  await hasValue(dialog().getByLabel("Temperature"), "0.2");
  await dialog().getByRole("button", { name: "Reset to defaults" }).click();
  await hasValue(dialog().getByLabel("Temperature"), "");
  await save().click();
  await page.getByRole("button", { name: "Parameters of this chat", exact: true }).waitFor();
  await say("Plainly");
  assert.deepEqual(sent(), {});
  assert.doesNotMatch(received.at(-1).messages[0].content, /pirate/);
});

test("a model and an agent have parameters of their own", async () => {
  await page.goto("/settings/models");
  await page.getByRole("button", { name: /^tiny/ }).click();
  await page.getByLabel("Temperature").fill("0.5");
  await page.getByLabel("Detect automatically").uncheck();
  await page.getByLabel("Seed", { exact: true }).first().waitFor();
  await page.getByRole("checkbox", { name: "Seed" }).check();
  await page.getByLabel("Max output tokens").first().fill("900");
  await page.getByText("Refused by the server since the last restart: Top P").waitFor();
  await check(page, "the model’s parameters");
  await picture(page, "parameters-model");
  await page.getByRole("button", { name: "Save" }).first().click();
  await page.getByText("Saved").waitFor();

  await page.goto("/settings/agents");
  await page.getByRole("button", { name: "New agent" }).click();
  const form = page.getByRole("form");
  await form.getByLabel("Name", { exact: true }).fill("poet");
  await form.getByLabel("Instructions").fill("You write poems.");
  await form.getByLabel("Model", { exact: true }).selectOption("tiny");
  await form.getByText("More", { exact: true }).click();
  await form.getByLabel("Seed").fill("7");
  await form.getByLabel("Temperature").fill("1.1");
  await picture(page, "parameters-agent");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Edit poet" }).click();
  await form.getByText(/^More · set: .*Parameters/).click();
  await hasValue(form.getByLabel("Temperature"), "1.1");

  await page.goto("/");
  await page.getByRole("button", { name: /choose a model/ }).click();
  await page.getByRole("button", { name: /poet/ }).click();
  await say("A rose");
  assert.deepEqual(sent(), { temperature: 1.1, max_tokens: 900, seed: 7 });
});

test("on a phone, in Russian and dark", async () => {
  const cookies = await page.context().cookies();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    preferences: { theme: "dark", language: "ru" },
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  await phone.context().addCookies(cookies);
  await phone.goto("/");
  await phone.getByRole("button", { name: "Параметры этого чата" }).tap();
  const dialog = phone.getByRole("dialog", { name: "Параметры" });
  await dialog.getByLabel("Температура").fill("3");
  await dialog.getByText("Введите число от 0 до 2.").waitFor();
  await check(phone, "the parameters");
  await picture(phone, "parameters-dark-ru");
  const excess = await dialog.evaluate((element) => element.scrollWidth - element.clientWidth);
  assert.ok(excess <= 0, `${excess} px too wide`);
  await dialog.getByRole("button", { name: "Сбросить" }).scrollIntoViewIfNeeded();
  await picture(phone, "parameters-dark-ru-end");
  await phone.goto("/settings/models");
  await phone.getByRole("button", { name: /^tiny/ }).tap();
  const refused = phone.getByText("Отклонено сервером с последнего перезапуска: Top P");
  await refused.scrollIntoViewIfNeeded();
  await check(phone, "what a server has refused");
  await picture(phone, "parameters-refused-dark-ru");
  assert.deepEqual(phone.complaints, []);
});
