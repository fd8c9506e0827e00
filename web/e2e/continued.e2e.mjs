/** Sub-agents with the real program: one is stopped on its own, and one is continued. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage, until } from "./browser.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const task = (description) => ({ name: "task", arguments: { description, subagent_type: "general" } });
const CASES = [
  {
    contains: "Work",
    turns: [
      {
        steps: [
          { type: "calls", calls: [task("Slow reader"), task("Quick reader")] },
          { type: "finish", reason: "tool_calls" },
        ],
      },
      turn(text("One of them came to an end.")),
    ],
  },
  { contains: "Slow reader", turns: [turn(text("I begin to read."), pause(60_000), text("Never said."))] },
  { contains: "Quick reader", turns: [turn(text("It says A."))] },
  { turns: [turn(text("Hello."))] },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), startModel(CASES)]);
  glasshouse = await startGlasshouse({ OPENAI_API_BASE_URL: model.url, GLASSHOUSE_AUTH: "none" });
  page = await openPage(browser, { url: glasshouse.url });
  await page.goto("/");
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const field = () => page.getByRole("textbox", { name: "Message" });
const row = (name) => page.getByRole("button", { name: new RegExp(name) });

test("one is stopped, and the run goes on without it", async () => {
  await field().fill("Work");
  await page.keyboard.press("Enter");
  await page.getByText("I begin to read.").waitFor();
  const stop = page.getByRole("button", { name: "Stop this sub-agent" });
  await until("only the slow one works", async () => (await stop.count()) === 1);
  await stop.click();
  await page.getByText("One of them came to an end.").waitFor();
});

test("one that has ended puts its name into the message field", async () => {
  await page.locator("[data-steps-toggle]").first().click();
  if (!(await page.getByRole("button", { name: "Continue this sub-agent" }).count()))
    await row("Quick reader").click();
  await field().fill("typed before");
  await page.getByRole("button", { name: "Continue this sub-agent" }).first().click();
  const words = await field().inputValue();
  assert.match(
    words,
    /^Continue the sub-agent “(Slow|Quick) reader” \([0-9a-f]{8}\/a[12]\): \ntyped before$/,
  );
});
