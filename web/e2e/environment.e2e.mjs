/**
 * A model server configured through the environment: it is available after set-up, and receives user information once
 * an administrator allows it.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { ada } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page, http;
/** Chat completion requests as received. */
const heard = [];

test.beforeAll(async () => {
  http = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.url === "/v1/models") {
      response.writeHead(200, { "content-type": "application/json" });
      return response.end(JSON.stringify({ object: "list", data: [{ id: "m" }] }));
    }
    heard.push({ headers: request.headers, body: JSON.parse(body) });
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = (data) => response.write(`data: ${JSON.stringify(data)}\n\n`);
    event({ choices: [{ delta: { content: "Hello from the house." } }] });
    event({ choices: [{ delta: {}, finish_reason: "stop" }] });
    response.end("data: [DONE]\n\n");
  });
  await new Promise((listening) => http.listen(0, "127.0.0.1", listening));
  const environment = { OPENAI_API_BASE_URL: `http://127.0.0.1:${http.address().port}/v1` };
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse(environment)]);
  page = await openPage(browser, { url: glasshouse.url });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  http?.close();
});

async function say(words) {
  const before = heard.length;
  const composer = page.getByRole("textbox", { name: "Message" });
  await composer.fill(words);
  await composer.press("Enter");
  await page.getByText("Hello from the house.").nth(before).waitFor();
  return heard.at(-1);
}

test("after set-up nobody is asked to connect a model that is connected", async () => {
  await page.goto("/");
  await page.getByLabel("Name").fill(ada.name);
  await page.getByLabel("Email").fill(ada.email);
  await page.getByLabel("Password").fill(ada.password);
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  assert.equal(new URL(page.url()).pathname, "/");
  const ready = page.getByText("1 model from the environment is ready");
  await ready.waitFor();
  const { headers, body } = await say("Hi");
  assert.ok(!Object.keys(headers).some((name) => name.startsWith("x-openwebui-")), JSON.stringify(headers));
  assert.equal(body.metadata, undefined);
  await page.goto("/welcome");
  await page.getByRole("heading", { name: "Connect another model" }).waitFor();
  await page.getByText("· from the environment").waitFor();
  await ready.waitFor();
  await page.getByRole("button", { name: "Start chatting" }).click();
  await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  // Once a model has answered, nobody needs to be told.
  assert.equal(await ready.count(), 0);
});

test("it is told who asks once an administrator says so", async () => {
  await page.goto("/settings/models");
  await page.getByRole("button", { name: "Settings for Environment" }).click();
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH");
  await page.getByRole("switch", { name: "Forward user info" }).click();
  assert.equal((await saved).status(), 200);
  await page.goto("/");
  heard.length = 0;
  const { headers, body } = await say("Hi again");
  assert.equal(headers["x-openwebui-user-name"], ada.name);
  assert.equal(headers["x-openwebui-user-email"], ada.email);
  assert.equal(headers["x-openwebui-user-role"], "admin");
  const chat = new URL(page.url()).pathname.replace("/c/", "");
  assert.equal(headers["x-openwebui-chat-id"], chat);
  const { metadata } = body;
  assert.equal(metadata.chat_id, chat);
  assert.equal(metadata.user_id, headers["x-openwebui-user-id"]);
  assert.match(metadata.session_id, /^[0-9a-f]{32}$/);
  assert.match(metadata.message_id, /^msg_/);
  assert.equal(typeof metadata.variables["{{CURRENT_DATE}}"], "string");
  for (const list of ["files", "tool_ids", "filter_ids"]) assert.deepEqual(metadata[list], []);
  assert.equal(metadata.features.web_search, false);
});
