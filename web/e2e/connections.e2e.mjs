/** Model connections with the real program: rejected keys, a failing server, and what the page shows. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const GOOD = "sk-the-good-key-2222";
const BAD = "sk-the-bad-key-1111";

/** A model server with the model `m` and this response. */
async function startServer(answer, model = { id: "m" }) {
  const keys = [];
  const http = createServer(async (request, response) => {
    request.resume();
    const key = request.headers.authorization?.replace("Bearer ", "") ?? request.headers["x-api-key"];
    const send = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.url.split("?")[0] === "/v1/models") {
      if (key === "sk-nobodys-key") return send(401, { error: { message: "This key is unknown." } });
      return send(200, { object: "list", data: [model] });
    }
    keys.push(key);
    answer({ key, send, response });
  });
  await new Promise((listening) => http.listen(0, "127.0.0.1", listening));
  return { keys, http, url: `http://127.0.0.1:${http.address().port}/v1` };
}

function say(response, words) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (body) => response.write(`data: ${JSON.stringify(body)}\n\n`);
  event({ choices: [{ delta: { content: words } }] });
  event({ choices: [{ delta: {}, finish_reason: "stop" }] });
  response.end("data: [DONE]\n\n");
}

let browser, glasshouse, page, picky, failing, seeing;

test.beforeAll(async () => {
  picky = await startServer(({ key, send, response }) => {
    if (key !== GOOD) return send(401, { error: { message: "The key has expired." } });
    say(response, "OK from the house.");
  });
  failing = await startServer(({ send }) => send(500, { error: { message: "Out of memory." } }));
  const abilities = { vision: true, function_calling: true };
  seeing = await startServer(({ response }) => say(response, "I see."), {
    id: "seer-1",
    max_context_length: 131072,
    capabilities: abilities,
  });
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await page.goto("/settings/models");
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  picky?.http.close();
  failing?.http.close();
  seeing?.http.close();
});

const card = (name) =>
  page.getByRole("listitem").filter({ has: page.getByRole("button", { name: `Settings for ${name}` }) });
const open = (name) => page.getByRole("button", { name: `Settings for ${name}` }).click();

async function connect(name, url, key) {
  const form = page.locator("form").filter({ has: page.getByRole("button", { name: "Connect" }) });
  await form.getByRole("radio", { name: "Another OpenAI-compatible server" }).check({ force: true });
  await form.getByLabel("Base URL").fill(url);
  await form.getByLabel("API key").fill(key);
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Connect" }).click();
  await card(name).waitFor();
}

/** Waits for the request of an action, and returns the response. */
async function told(action, method = "PATCH") {
  const answer = page.waitForResponse((response) => response.request().method() === method);
  await action();
  return (await answer).status();
}

test("a key is tried alone, and what is wrong with it is said in the server's words", async () => {
  await connect("House", picky.url, BAD);
  await open("House");
  const house = card("House");
  await house.getByText("Key …1111").waitFor();
  await house.getByRole("button", { name: "Test" }).click();
  await house.getByText(/Responds in .* 1 model available/).waitFor();
  await house.getByLabel("Model to test").selectOption("m");
  await house.getByRole("button", { name: "Test" }).click();
  await house.getByText(/refused the key.*The key has expired/).waitFor();
  await house.getByLabel("New key").fill("sk-nobodys-key");
  await house.getByRole("button", { name: "Add key" }).click();
  await house.getByRole("button", { name: "Test" }).click();
  await house.getByText(/^Key …-key: .*This key is unknown/).waitFor();
  await house.getByRole("button", { name: "Remove Key …-key" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove Key …-key" }).click();
  await house.getByText("2 keys").waitFor({ state: "detached" });
});

test("a refused key rests and the other one answers", async () => {
  const house = card("House");
  await house.getByLabel("New key").fill(GOOD);
  await house.getByRole("button", { name: "Add key" }).click();
  await house.getByText("Key …2222").waitFor();
  assert.equal(
    await told(() =>
      house
        .getByLabel("Weight of Key …1111")
        .fill("7")
        .then(() => page.keyboard.press("Tab")),
    ),
    200,
  );
  const before = picky.keys.length;
  for (let turn = 0; turn < 2; turn += 1) {
    const answer = await page.evaluate(async () => {
      const body = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] });
      const headers = { "content-type": "application/json" };
      return (await fetch("/v1/chat/completions", { method: "POST", headers, body })).text();
    });
    assert.match(answer, /OK from the house/);
  }
  assert.deepEqual(picky.keys.slice(before), [BAD, GOOD, GOOD]);
  await house.getByText("cooling down for", { exact: false }).waitFor();
  await house.getByText(/ago: .*The key has expired/).waitFor();
  await house.getByText("2 answers since the server started").waitFor();
});

test("a server that fails again and again is left alone, and the other one answers", async () => {
  await open("House");
  await connect("Cloud", failing.url, GOOD);
  await open("Cloud");
  const cloud = card("Cloud");
  assert.equal(await told(() => cloud.getByRole("switch", { name: "Load balancing" }).click()), 200);
  await cloud.getByLabel("Weight", { exact: true }).fill("1000");
  assert.equal(await told(() => cloud.getByRole("button", { name: "Save" }).click()), 200);
  await open("Cloud");
  await open("House");
  const house = card("House");
  assert.equal(await told(() => house.getByRole("switch", { name: "Load balancing" }).click()), 200);
  await open("House");
  await page.evaluate(async () => {
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] });
    const headers = { "content-type": "application/json" };
    for (let turn = 0; turn < 8; turn += 1) {
      const answer = await fetch("/v1/chat/completions", { method: "POST", headers, body });
      if (!answer.ok) throw new Error(await answer.text());
    }
  });
  assert.equal(failing.keys.length, 5);
  await cloud.getByText(/Paused for .* after 5 failures in a row/).waitFor();
  await cloud.getByText(/ago: .*Out of memory/).waitFor();
});

test("one that is switched off offers nothing, and an address elsewhere needs its keys gone", async () => {
  await open("Cloud");
  const cloud = card("Cloud");
  assert.equal(await told(() => cloud.getByRole("switch", { name: "Enabled" }).click()), 200);
  await cloud.getByText(/· off$/).waitFor();
  await cloud.getByLabel("Base URL").fill("http://127.0.0.1:9/v1");
  assert.equal(await told(() => cloud.getByRole("button", { name: "Save" }).click()), 409);
  await page.getByText(/keys and headers of this connection belong to its current server/).waitFor();
  await cloud.getByLabel("Weight", { exact: true }).fill("1001");
  await cloud.getByText("Enter a whole number from 0 to 1000.").waitFor();
  await cloud.getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await cloud.waitFor({ state: "detached" });
  const complaints = page.complaints.filter((text) => !/40[19]|status of (4|5)/.test(text));
  assert.deepEqual(complaints, []);
});

test("a provider is chosen, its key pasted, and it is connected", async () => {
  const form = page.locator("form").filter({ has: page.getByRole("group", { name: "Provider" }) });
  const provider = (name) => form.getByRole("radio", { name, exact: true });
  // With the keyboard, as for any radio buttons.
  await provider("OpenAI").focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  assert.equal(await provider("Anthropic").isChecked(), true);
  const asked = form.getByRole("textbox").or(form.locator("input[type=password]")).filter({ visible: true });
  assert.equal(await asked.count(), 1, "only the key is asked for");
  assert.match(await form.getByRole("link", { name: "Get an API key" }).getAttribute("href"), /anthropic/);
  const connectButton = form.getByRole("button", { name: "Connect" });
  assert.equal(await connectButton.isDisabled(), true);
  await check(page, "providers", "main");

  await form.getByLabel("API key").fill("sk-ant-a-key-3333");
  await form.getByText("More options").click();
  assert.equal(await form.getByLabel("Name").inputValue(), "Anthropic");
  assert.equal(await form.getByLabel("Base URL").inputValue(), "https://api.anthropic.com/v1");
  await form.getByLabel("Base URL").fill(seeing.url);
  await connectButton.click();
  await card("Anthropic")
    .getByText(/Anthropic Messages · .* · 1 model · 1 key/)
    .waitFor();
  await page.getByText("131.1k tokens · images · tools").waitFor();

  // The form asks for exactly the fields of each kind.
  await provider("Azure OpenAI").check({ force: true });
  await form.getByLabel("Base URL").waitFor();
  await provider("Amazon Bedrock").check({ force: true });
  await form.getByLabel("AWS region").waitFor();
  await form.getByLabel("API key").fill("k");
  assert.equal(await connectButton.isDisabled(), true, "the region is missing");
  await provider("Another OpenAI-compatible server").check({ force: true });
  await form.getByLabel("API format").selectOption("vertex");
  await form.getByLabel("Google Cloud project").waitFor();

  // The format can be changed later.
  await open("Anthropic");
  await card("Anthropic").getByLabel("API format").selectOption("openai");
  assert.equal(await told(() => card("Anthropic").getByRole("button", { name: "Save" }).click()), 200);
  await card("Anthropic")
    .getByText(/OpenAI Chat Completions · /)
    .waitFor();
});

test("the page fits a phone, in the dark and in Russian", async () => {
  const preferences = { language: "ru", theme: "dark" };
  const phone = await openPage(browser, {
    url: glasshouse.url,
    preferences,
    viewport: { width: 390, height: 844 },
    storageState: { cookies: await page.context().cookies(), origins: [] },
  });
  await phone.goto("/settings/models");
  await phone.getByRole("button", { name: "Настройки: House" }).click();
  await phone.getByText("Ключ …2222").waitFor();
  await phone.getByRole("radio", { name: "Amazon Bedrock" }).check({ force: true });
  await phone.getByLabel("Регион AWS").waitFor();
  await check(phone, "providers on a phone", "main");
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  assert.equal(wide, false);
  await phone.context().close();
});
