/**
 * Autocompletion with a completion model: the suggestion streams in, stays while it is typed, and is cancelled when the
 * text diverges.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { hasValue, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** A model server whose output is controlled by the test. */
async function startContinuing() {
  const calls = [];
  const server = createServer((request, response) => {
    if (request.url.endsWith("/models")) {
      response.setHeader("content-type", "application/json");
      response.end('{"object":"list","data":[{"id":"scripted","object":"model"}]}');
      return;
    }
    if (!request.url.endsWith("/v1/completions")) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    calls.push({
      write: (text) => response.write(`data: ${JSON.stringify({ choices: [{ text }] })}\n\n`),
      closed: once(response, "close"),
    });
    calls.waiting?.();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    calls,
    /** Resolves with call number `index` once it has arrived. */
    async call(index) {
      while (calls.length <= index) await new Promise((resolve) => (calls.waiting = resolve));
      return calls[index];
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  const on = { ENABLE_AUTOCOMPLETE_GENERATION: "True" };
  [browser, model, glasshouse] = await Promise.all([launch(), startContinuing(), startGlasshouse(on)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  model?.stop();
});

const field = () => page.getByLabel("Message", { exact: true });
const offered = (words) => page.locator(".ghost .offered").getByText(words, { exact: true }).waitFor();

test("what is offered grows word by word and stays while it is typed", async () => {
  await field().pressSequentially("What is the");
  const call = await model.call(0);
  call.write(" capital o");
  await offered("capital");
  call.write("f Fra");
  await offered("capital of");
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: `${process.env.E2E_PICTURES}/growing-ghost.png` });
  await page.keyboard.press("ArrowRight");
  await hasValue(field(), "What is the capital");
  await field().pressSequentially(" o");
  await offered("f");
  // The request was not cancelled: more of the suggestion arrives.
  call.write("nce?");
  await offered("f France?");
  await call.closed;
  await page.keyboard.press("Tab");
  await hasValue(field(), "What is the capital of France?");
  assert.equal(model.calls.length, 1);
});

test("what goes another way stops the model and is asked about anew", async () => {
  await field().fill("");
  await field().pressSequentially("How do plants ");
  const first = await model.call(1);
  first.write(" grow in ");
  await offered("grow in");
  await field().pressSequentially("b");
  await first.closed;
  await page.locator(".ghost").waitFor({ state: "detached" });
  const second = await model.call(2);
  second.write("reathe at night?");
  await offered("reathe at night?");
  await field().fill("");
});

test("what is longer than an administrator allows is not asked about", async () => {
  const config = { AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH: 12 };
  const set = await page.request.post("/api/v1/tasks/config/update", { data: config });
  assert.ok(set.ok(), await set.text());
  await page.reload();
  const before = model.calls.length;
  await field().pressSequentially("What do plants ");
  // Longer than the required pause in typing.
  await page.waitForTimeout(800);
  assert.equal(model.calls.length, before);
  await field().fill("What do they");
  (await model.call(before)).write(" do?");
  await offered("do?");
  await field().fill("");
  // An error would be listed here.
  assert.deepEqual(page.complaints, []);
});
