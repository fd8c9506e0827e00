/**
 * Requirements of the source documents on the page, with the real program: docs/source-documents.md maps them to tests.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { copiedBy, hasValue, launch, openPage, unfold } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const LONG = "a line of a long file\n".repeat(120);
const CASES = [
  { contains: "Hold on", turns: [turn(pause(60_000), text("Never said."))] },
  {
    contains: "Have it held",
    turns: [turn(calls(["task", { description: "Hold on", subagent_type: "explore" }]))],
  },
  {
    contains: "Read it",
    turns: [
      turn(calls(["write_file", { path: "/long.txt", content: LONG }])),
      turn(calls(["read_file", { path: "/long.txt" }], ["read_file", { path: "/nowhere.txt" }])),
      turn(pause(600), text("It was a long one, as long as files are.", 20)),
    ],
  },
  { turns: [turn(text("Hello from the scripted model."))] },
];

let browser, glasshouse, model, page;
const written = [];

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
  page.on("console", (message) => written.push(`${message.type()}: ${message.text()}`));
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const box = () => page.getByRole("textbox", { name: "Message" });
const say = async (words) => {
  await box().fill(words);
  await page.keyboard.press("Enter");
};
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
const steps = () => page.locator("[data-steps-toggle]").last();
const newChat = () => page.getByRole("button", { name: /New chat/ }).click();
const row = (name) => page.getByRole("button", { name }).first();
const spinners = () => page.locator("article.assistant .spinner");

test("document 000: spinners turn while the agent works, and stop with it", async () => {
  await say("Have it held");
  // One in the status line, others at running steps.
  await page.getByText("Hold on").first().waitFor();
  await page.locator("article.assistant .status .spinner").waitFor();
  assert.ok((await spinners().count()) >= 2, `${await spinners().count()} spinners`);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByText("You stopped this answer.").waitFor();
  assert.equal(await spinners().count(), 0);
});

/** Records each text of the status line, and the maximum number of such lines at once. */
const watchStatus = () =>
  page.evaluate(() => {
    window.statuses = { texts: [], most: 0, above: true };
    const look = () => {
      const lines = [...document.querySelectorAll("article.assistant .status")];
      window.statuses.most = Math.max(window.statuses.most, lines.length);
      for (const line of lines) {
        const said = line.querySelector(".text")?.textContent;
        if (said !== window.statuses.texts.at(-1)) window.statuses.texts.push(said);
        const answer = line.closest("article").querySelector(".answer");
        const follows = Node.DOCUMENT_POSITION_FOLLOWING;
        if (answer && !(line.compareDocumentPosition(answer) & follows)) window.statuses.above = false;
      }
    };
    new MutationObserver(look).observe(document.body, {
      childList: true,
      subtree: true,
      characterData: true,
    });
  });

test("document 003: one status line above the answer, replaced and gone at the end, and not in the message", async () => {
  await newChat();
  await watchStatus();
  await say("Read it");
  await page.getByText("as long as files are.").waitFor();
  await finished();
  const { texts, most, above } = await page.evaluate(() => window.statuses);
  assert.equal(most, 1, "one line");
  assert.ok(above, "above the answer");
  assert.ok(new Set(texts).size > 1 && texts.includes("Thinking…"), texts.join(" | "));
  assert.equal(await page.locator("article.assistant .status").count(), 0);
  const chat = new URL(page.url()).pathname.split("/").pop();
  const { messages } = await (await page.request.get(`/api/v1/chats/${chat}`)).json();
  assert.deepEqual(messages.at(-1).content, [
    { type: "text", text: "It was a long one, as long as files are." },
  ]);
});

test("document 000: each call shows whether it went well, by an icon and a word", async () => {
  await unfold(steps());
  await row(/^done Created long\.txt/).waitFor();
  await row(/^done Read long\.txt/).waitFor();
  await row(/^failed Reading nowhere\.txt/).waitFor();
  const colour = (state) =>
    page
      .locator(`.state.${state}`)
      .first()
      .evaluate((icon) => getComputedStyle(icon).color);
  assert.notEqual(await colour("done"), await colour("failed"));
  assert.equal(await page.locator(".state.failed svg").count(), 1);
});

test("document 000: what a tool answered is copied whole, though its beginning is shown", async () => {
  await row(/^done Read long\.txt/).click();
  const result = page.locator(".label").filter({ hasText: "Result" }).last();
  await result.getByRole("button", { name: "Show all" }).waitFor();
  const copied = await copiedBy(result.getByRole("button", { name: "Copy" }));
  assert.equal(copied.split("a line of a long file").length - 1, 120);
});

const mode = () => page.locator("[data-mode]");
const until = (value) => page.locator(`[data-mode=${value}]`).waitFor();

test("document 003: the research button has three states with names and colours of their own", async () => {
  const look = () =>
    mode().evaluate((button) => {
      const style = getComputedStyle(button);
      return {
        name: button.title,
        mode: button.dataset.mode,
        look: `${style.color} on ${style.backgroundColor}`,
      };
    });
  const seen = [await look()];
  for (const next of ["research", "deep"]) {
    await mode().click();
    await until(next);
    await page.mouse.move(0, 0);
    seen.push(await look());
  }
  assert.deepEqual(
    seen.map((state) => state.mode),
    ["chat", "research", "deep"],
  );
  assert.match(seen[0].name, /^Research: off\. /);
  assert.match(seen[1].name, /^Research\. /);
  assert.match(seen[2].name, /^Deep research\. /);
  assert.equal(new Set(seen.map((state) => state.look)).size, 3, JSON.stringify(seen));
  await mode().click();
  await until("chat");
});

test("document 003: another chat switches research off, and a draft stays with its chat", async () => {
  await newChat();
  await say("Hello");
  await page.getByText("Hello from the scripted model.").waitFor();
  await finished();
  await box().fill("half a thought");
  await mode().click();
  await until("research");
  await page.getByRole("link", { name: "Read it" }).click();
  await page.getByText("as long as files are.").waitFor();
  await until("chat");
  assert.equal(await box().inputValue(), "");
  await page.getByRole("link", { name: "Hello" }).click();
  await hasValue(box(), "half a thought");
  await until("chat");
});

test("document 003: the console stays empty, and what goes on is in the Debug panel", async () => {
  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByRole("tab", { name: "Debug" }).click();
  await page.locator("[data-row]").filter({ hasText: "run_finished" }).waitFor();
  assert.deepEqual(written, []);
});
