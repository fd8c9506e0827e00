/** The gauge of the model's context window in the composer. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser, server, page;

const summary = (input_tokens) => ({
  answer: "An answer",
  tools: 0,
  failed_tools: 0,
  agents: 0,
  duration_ms: 1000,
  outcome: "completed",
  problem: null,
  usage: { input_tokens, output_tokens: 400 },
  cost_micro_usd: null,
});

const messages = (input_tokens) => [
  message("user", "A question", null),
  { ...message("assistant", "An answer", "user"), run: "run_1", summary: summary(input_tokens) },
];
const message = (role, text, parent) => ({
  id: role,
  parent,
  role,
  content: [{ type: "text", text }],
  created_at: 1_780_000_000_000,
  run: null,
});

test.beforeAll(async () => {
  browser = await launch();
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  page = await openPage(browser, { url: server.url });
});
test.afterAll(async () => {
  await browser.close();
  await server.close();
});

const gauge = () => page.getByRole("meter");

async function open(tokens) {
  const chat = server.addChat(`A chat of ${tokens}`, { messages: messages(tokens) });
  await page.goto(`/c/${chat.id}`);
  await page.getByText("An answer").waitFor();
  await page.getByRole("button", { name: "qwen3-30b" }).waitFor();
}

test("it is hidden while the window is unknown or has much room", async () => {
  await open(12_000);
  assert.equal(await gauge().count(), 0);
  server.models.find(({ id }) => id === "qwen3-30b").listed.context_tokens = 128_000;
  await open(12_000);
  assert.equal(await gauge().count(), 0);
});

test("it says how full the window is", async () => {
  await open(63_600);
  await gauge().waitFor();
  const words = "Context: 64,000 of 128,000 tokens used";
  assert.equal(await gauge().getAttribute("title"), words);
  assert.equal(await gauge().getAttribute("aria-valuetext"), words);
  await check(page, "the gauge of the context");
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: `${process.env.E2E_PICTURES}/context-gauge.png` });
});

test("a nearly full one, in Russian, on a phone, in the dark", async () => {
  await open(120_000);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() =>
    localStorage.setItem("glasshouse.preferences", JSON.stringify({ language: "ru", theme: "dark" })),
  );
  await page.reload();
  await gauge().waitFor();
  await until("the words are Russian", async () =>
    /^Контекст: занято 120\s400 из 128\s000 токенов$/.test(await gauge().getAttribute("title")),
  );
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: `${process.env.E2E_PICTURES}/context-gauge-phone.png` });
  assert.deepEqual(page.complaints, []);
});
