/**
 * Citations and tool calls of a model's provider, from a recorded response of Claude: marks, sources, and the
 * provider's tool call.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";
import { connectProvider, startProvider } from "./provider.mjs";

test.describe.configure({ mode: "serial" });

const RECORDING = new URL(
  "../../crates/provider/tests/recordings/anthropic/web_search_stream.json",
  import.meta.url,
);
const [{ response: RESPONSE }] = JSON.parse(readFileSync(RECORDING, "utf8"));
const MODEL = "claude-sonnet-4-0";

let browser, glasshouse, provider, page;

test.beforeAll(async () => {
  [browser, glasshouse, provider] = await Promise.all([
    launch(),
    startGlasshouse(),
    startProvider({
      models: { data: [{ type: "model", id: MODEL, display_name: "Claude" }], has_more: false },
      answer: RESPONSE,
      type: "text/event-stream",
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectProvider(page, glasshouse, provider, "anthropic");
});
test.afterAll(async () => {
  await browser?.close();
  provider?.stop();
  await glasshouse?.stop();
});

const turn = () => page.locator(".turn").last();

async function marksAreShown() {
  await turn().getByText("Sources · 4").waitFor();
  assert.deepEqual(await turn().locator("[data-cite]").allInnerTexts(), ["1", "2", "3", "3", "4"]);
}

test("the answer has marks of what it cites, while it is new and after a reload", async () => {
  await page.goto("/");
  await page.getByLabel("Message", { exact: true }).fill("What is the weather in San Francisco today?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.waitForURL(/\/c\//);
  await marksAreShown();
  await page.reload();
  await marksAreShown();
});

test("the provider's search is a step with its input and results", async () => {
  await turn().locator("[data-steps-toggle]").first().click();
  const step = turn()
    .getByRole("button", { name: /Searched the web/ })
    .first();
  await step.getByText("run by the provider").waitFor();
  await step.click();
  await turn().getByText("accuweather").first().waitFor();
});
