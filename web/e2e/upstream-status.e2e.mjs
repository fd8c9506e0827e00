/**
 * Statuses from a model server in the page: live, replaced, kept apart by agent, cleared, never text, and after a
 * reload.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { calls, pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const SEARCHING = "Turn 1 - Searching knowledge base…";
const CRAWLING = "Turn 1 - Crawling 2 sources…";

const status = (data) => ({ type: "status", data });
const event = (data) => ({ type: "event", data: JSON.stringify(data) });
const working = (description) => event(status({ description, done: false, hidden: false }));

const GATEWAY = turn(
  working(SEARCHING),
  pause(4_000),
  event({ event: status({ description: CRAWLING }) }),
  pause(2_000),
  event(status({ done: true, hidden: true })),
  pause(2_000),
  text("It is known."),
);
const task = (description) => ["task", { description, subagent_type: "explore" }];
const CASES = [
  { contains: "Ask the gateway", turns: [GATEWAY] },
  {
    contains: "Look left",
    // Once the other agent has started, because its “Thinking…” would replace this status.
    turns: [turn(pause(500), working("Reading the left page…"), pause(6_000), text("Left."))],
  },
  {
    contains: "Look right",
    turns: [turn(pause(1_500), working("Reading the right page…"), pause(1_500), text("Right."))],
  },
  {
    contains: "Look both ways",
    turns: [turn(calls(task("Look left"), task("Look right"))), turn(text("Both were seen."))],
  },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Scripted", base_url: model.url },
    headers: { origin: glasshouse.url },
  });
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const line = () => page.locator(".turn .status .text");
const says = (words) =>
  line()
    .and(page.getByText(words, { exact: true }))
    .waitFor();

async function ask(words) {
  await page.goto("/");
  await page.getByLabel("Message", { exact: true }).fill(words);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

test("document_003: a status is shown, replaced, cleared, and survives a reload", async () => {
  await ask("Ask the gateway");
  await says(SEARCHING);
  await page.waitForURL(/\/c\//);
  await page.reload();
  await says(SEARCHING);
  await says(CRAWLING);
  // Cleared: the page shows its own status, as for any model.
  await says("Thinking…");
  await page.getByText("It is known.").waitFor();
  await line().waitFor({ state: "detached" });
  await page.reload();
  await page.getByText("It is known.").waitFor();
  const shown = await page.locator(".turn").last().textContent();
  assert.ok(!shown.includes(SEARCHING) && !shown.includes(CRAWLING), shown);
});

test("a status stays with its sub-agent", async () => {
  await ask("Look both ways");
  await says("Look left: Reading the left page…");
  await says("Look right: Reading the right page…");
  // The other agent has ended: the first one's status is the latest again.
  await says("Look left: Reading the left page…");
  await page.getByText("Both were seen.").waitFor();
});
