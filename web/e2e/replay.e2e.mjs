/** A finished answer is replayed, and another chat is forked from one of its steps; with the real program. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage, unfold } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  { contains: "only one line", turns: [turn(text("One line it is."))] },
  {
    contains: "Write the report",
    turns: [
      turn(text("First a draft.", 20), calls(["write_file", { path: "/report.md", content: "draft\n" }])),
      turn(calls(["ask_user", { question: "Shall I make it longer?", options: ["Yes", "No"] }])),
      turn(calls(["write_file", { path: "/report.md", content: "a much longer report\n" }])),
      turn(calls(["read_file", { path: "/report.md" }])),
      turn(text("The report is written, and it is long.", 20)),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

const pictures = process.env.PICTURES;
let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const api = (path) => page.evaluate(async (path) => (await fetch(path)).json(), path);
const chatId = () => new URL(page.url()).pathname.split("/").pop();
const answer = () => page.locator("article.assistant .answer").last();
const bar = () => page.getByRole("region", { name: "Replay" });
const frozen = () => page.getByText("You can’t answer during a replay.");
const slider = () => bar().getByRole("slider");
const say = async (words) => {
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
};

async function picture(name) {
  if (!pictures) return;
  for (const theme of ["light", "dark"]) {
    for (const [width, height] of [
      [1280, 800],
      [390, 780],
    ]) {
      await page.setViewportSize({ width, height });
      await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
}

test("a finished answer is played back, and nothing is sent", async () => {
  await say("Write the report");
  await page.waitForURL("**/c/chat_*");
  await page.getByRole("button", { name: "Yes" }).click();
  await page.getByText("The report is written, and it is long.").waitFor();
  await page.getByRole("button", { name: "Replay", exact: true }).waitFor();
  const sent = [];
  page.on("request", (request) => {
    // Marking the answer as read happens at its own time.
    const marksRead = request.url().endsWith("/read");
    if (request.method() !== "GET" && !marksRead) sent.push(request.url());
  });
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await bar().waitFor();
  assert.match(page.url(), /\?replay=msg_/);
  assert.equal(await page.getByRole("textbox", { name: "Message" }).isVisible(), false);
  await page.keyboard.press("Space");
  await bar().getByRole("button", { name: "Play", exact: true }).waitFor();
  // Step by step to the question, which is shown as it was and cannot be answered.
  // The card is loaded on demand.
  const isFrozen = () =>
    frozen()
      .waitFor({ timeout: 400 })
      .then(
        () => true,
        () => false,
      );
  for (let steps = 0; steps < 40; steps += 1) {
    if (await isFrozen()) break;
    await bar().getByRole("button", { name: "Step forward" }).click();
  }
  await frozen().waitFor();
  assert.equal(await page.getByRole("button", { name: "Yes" }).count(), 0);
  assert.equal((await answer().textContent()).trim(), "");
  await picture("replay-question");
  // Back to before the question, and forward by keyboard.
  const there = Number(await slider().inputValue());
  await page.keyboard.press("ArrowLeft");
  assert.ok(Number(await slider().inputValue()) < there);
  await frozen().waitFor({ state: "hidden" });
  await page.keyboard.press("ArrowRight");
  assert.equal(Number(await slider().inputValue()), there);
  // Quickly to the end.
  await bar().getByLabel("Speed").selectOption("20×");
  await page.getByRole("log").focus();
  await page.keyboard.press("Space");
  await page.getByText("The report is written, and it is long.").waitFor();
  await bar().getByRole("button", { name: "Play", exact: true }).waitFor();
  assert.equal(await slider().inputValue(), await slider().getAttribute("max"));
  await picture("replay-end");
  await page.keyboard.press("Escape");
  await bar().waitFor({ state: "hidden" });
  assert.doesNotMatch(page.url(), /replay/);
  await page.getByText("The report is written, and it is long.").waitFor();
  assert.deepEqual(sent, []);
});

test("a link leads to the replay", async () => {
  const { messages } = await api(`/api/v1/chats/${chatId()}`);
  await page.goto(`/c/${chatId()}?replay=${messages.at(-1).id}`);
  await bar().waitFor();
  await page.keyboard.press("Escape");
  await bar().waitFor({ state: "hidden" });
});

test("a fork goes on from a step, with the files of then", async () => {
  const first = chatId();
  await unfold(page.locator("[data-steps-toggle]"));
  const forks = page.getByRole("button", { name: "Fork from here" });
  await forks.first().waitFor({ state: "attached" });
  assert.equal(await forks.count(), 4, "one for each of the main agent's steps that has a next one");
  const step = page
    .locator(".forkable")
    .filter({ has: page.locator(".row") })
    .first();
  await step.hover();
  const [row, fork] = await Promise.all([
    step.locator(".row").last().boundingBox(),
    step.getByRole("button", { name: "Fork from here" }).boundingBox(),
  ]);
  // Times stand at the end of the row.
  assert.ok(row.x + row.width <= fork.x, "the button covers the row");
  await picture("fork-steps");
  await forks.first().click();
  await page.getByLabel("Instructions (optional)").fill("Stop, only one line please");
  await picture("fork-dialog");
  await page.getByRole("button", { name: "Start fork" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/c/") && !url.pathname.endsWith(first));
  await page.getByText("One line it is.").waitFor();
  await page.getByRole("heading", { name: "Write the report (fork)" }).waitFor();
  await unfold(page.locator("[data-steps-toggle]"));
  await page.getByText("Your instructions: Stop, only one line please").waitFor();
  await picture("forked");
  const read = (chat) =>
    page.evaluate(
      async (chat) => (await fetch(`/api/v1/chats/${chat}/files/content?path=/report.md`)).text(),
      chat,
    );
  assert.equal(await read(chatId()), "draft\n");
  assert.equal(await read(first), "a much longer report\n");
  const { messages } = await api(`/api/v1/chats/${chatId()}`);
  assert.equal(messages.at(-1).summary.usage.input_tokens, 120, "only the new call is paid for");
});

test("the page had nothing to complain about", () => {
  assert.deepEqual(page.complaints, []);
});
