/** The main journey with the real program: sign up, connect, watch, reload, stop, branch, return. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";
import { hasValue, isAsked, launch, openPage, unfold } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, pause, reasoning, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  {
    contains: "Read the first half",
    turns: [
      turn(text("I look.", 40), calls(["grep", { pattern: "north", path: "/data.txt" }])),
      turn(pause(4000), text("The first half says north.", 40)),
    ],
  },
  {
    contains: "Read the second half",
    turns: [
      turn(calls(["read_file", { path: "/nowhere.txt" }])),
      turn(pause(4000), text("The second half is missing.", 40)),
    ],
  },
  {
    contains: "Count",
    turns: [turn(text(Array.from({ length: 2000 }, (_, n) => `w${n + 1} `).join(""), 40))],
  },
  {
    contains: "Ask",
    turns: [
      turn(calls(["ask_user", { question: "Which colour?", options: ["red", "blue"] }])),
      turn(text("Thank you.")),
    ],
  },
  { contains: "Broken", turns: [{ steps: [text("Half a sentence"), pause(300), { type: "cut" }] }] },
  {
    contains: "Work",
    turns: [
      turn(
        reasoning("First a plan, then two readers.", 40),
        text("I plan the work."),
        calls([
          "write_todos",
          {
            todos: [
              { content: "Write the data", status: "in_progress" },
              { content: "Read it", status: "pending" },
            ],
          },
        ]),
      ),
      turn(calls(["write_file", { path: "/data.txt", content: "north\nsouth\n".repeat(400) }])),
      turn(calls(["read_file", { path: "/data.txt" }])),
      turn(
        calls(
          ["task", { description: "Read the first half", subagent_type: "explore" }],
          ["task", { description: "Read the second half", subagent_type: "explore" }],
        ),
      ),
      turn(
        text(
          "# Result\n\n| Half | Finding |\n| --- | --- |\n| first | north |\n| second | missing |\n\n```js\nlet answer = 42;\n```\n\n<img src=x onerror=alert(1)>",
          60,
        ),
      ),
    ],
  },
  { turns: [turn(text("Hello from the scripted model."))] },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const steps = () => page.locator("[data-steps-toggle]").last();
const answer = () => page.locator("article.assistant .answer").last();
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
const say = async (words) => {
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
};
const newChat = () => page.getByRole("button", { name: /New chat/ }).click();

/** The API's response to this browser. */
const api = (path, options) =>
  page.evaluate(async ([path, options]) => (await fetch(path, options)).json(), [path, options]);
/** A finished run's complete log as sent. */
const log = (run) => page.evaluate(async (run) => (await fetch(`/runs/${run}/events`)).text(), run);
const sha256 = (words) => createHash("sha256").update(words).digest("hex");
const chatId = () => new URL(page.url()).pathname.split("/").pop();
const lastRun = async () => (await api(`/api/v1/chats/${chatId()}`)).messages.at(-1).run;

test("sign up", async () => {
  await setUp(page);
});

test("connect a model server, once its address is right", async () => {
  await page.getByLabel("Base URL").fill("http://127.0.0.1:9/v1");
  await page.getByRole("button", { name: "Test" }).click();
  await page
    .getByText(/Could not connect to/)
    .first()
    .waitFor();
  await connectModel(page, model);
});

test("watch a run with two sub-agents, reload in the middle, lose nothing", async () => {
  await say("Work");
  await page.waitForURL("**/c/chat_*");
  const run = await lastRun();
  // A separate reader follows from start to end, whatever the page does.
  const cookie = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const followed = fetch(`${glasshouse.url}/runs/${run}/events`, { headers: { cookie } }).then((answer) =>
    answer.text(),
  );
  await page.getByText(/2 sub-agents running/).waitFor();
  await page
    .getByText(/There is no file .nowhere\.txt/)
    .first()
    .waitFor();
  // A call that is still being streamed has no name yet.
  const before = (await page.locator(".steps .name").allInnerTexts()).filter((name) => name !== "");
  await page.reload();
  await page.getByText(/2 sub-agents running/).waitFor();
  await page
    .getByText(/There is no file .nowhere\.txt/)
    .first()
    .waitFor();
  const afterReload = await page.locator(".steps .name").allInnerTexts();
  // An agent may have continued meanwhile, which inserts rows between the earlier ones.
  const rest = [...before];
  for (const name of afterReload) if (name === rest[0]) rest.shift();
  assert.deepEqual(rest, [], `of ${before.join(", ")} is left: ${afterReload.join(", ")}`);
  await finished();
  assert.match(await steps().innerText(), /7 steps\s· 1 failed\s· 2 sub-agents/);
  assert.equal(await answer().locator("table tbody tr").count(), 2);
  assert.equal(await answer().locator("img").count(), 0);
  const [live, replayed] = [await followed, await log(run)];
  assert.ok(live.includes('"type":"run_finished"'));
  assert.equal(sha256(replayed), sha256(live), "the log read later is the log that was watched");
  await page.reload();
  await unfold(steps());
  await page
    .getByRole("button", { name: /Read the second half/ })
    .first()
    .click();
  await page
    .getByText(/There is no file .nowhere\.txt/)
    .first()
    .waitFor();
  assert.equal(sha256(await log(run)), sha256(live));
});

test("a long result is short until it is wanted", async () => {
  await page
    .getByRole("button", { name: /Read data\.txt/ })
    .first()
    .click();
  await page.getByRole("button", { name: "Show all" }).first().click();
  await page
    .getByText(/^800\s+south$|800\tsouth/)
    .first()
    .waitFor();
});

test("the run as each protocol sends it", async () => {
  const known = (await api(`/runs/${await lastRun()}/events?format=none`)).error.message.match(
    /There are: (.*)\./,
  );
  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByRole("tab", { name: "Debug" }).click();
  const panel = page.locator(".debug");
  await panel.getByRole("searchbox").fill("Finding");
  const shown = [];
  const protocols = page.getByRole("menuitemradio");
  for (let index = 0; index === 0 || index < shown.length; index += 1) {
    await panel.getByRole("button", { name: /^Format/ }).click();
    await protocols.first().waitFor();
    if (index === 0)
      shown.push(...(await protocols.evaluateAll((all) => all.map((item) => item.dataset.value))));
    await protocols.nth(index).click();
    await panel.locator("[data-state=complete]").waitFor();
    await panel.locator("[data-row] mark", { hasText: "Finding" }).first().waitFor();
    await panel.locator("[data-row]").last().click();
    await panel.locator("pre mark", { hasText: "Finding" }).first().waitFor();
  }
  assert.deepEqual(shown.toSorted(), known[1].split(", ").toSorted(), "the menu has what the server has");
  await page.getByRole("button", { name: "Close panel" }).first().click();
});

test("stop keeps what was written", async () => {
  await newChat();
  await say("Count");
  await page.getByText(/\bw40\b/).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("You stopped this answer.").waitFor();
  assert.match(await answer().innerText(), /^w1 w2 w3/);
  const { summary } = (await api(`/api/v1/chats/${chatId()}`)).messages.at(-1);
  assert.equal(summary.outcome, "cancelled");
  assert.match(summary.answer, /^w1 w2 w3/);
});

test("a question waits through a reload", async () => {
  await newChat();
  await say("Ask");
  await page.getByText("Which colour?").first().waitFor();
  await page.reload();
  await page.getByRole("button", { name: "blue" }).click();
  await page.getByText("Thank you.").waitFor();
});

test("a run goes on in the open page after the server was killed", async () => {
  await newChat();
  await say("Work once more");
  await page.getByText(/2 sub-agents running/).waitFor();
  await page
    .getByText(/There is no file .nowhere\.txt/)
    .first()
    .waitFor();
  await glasshouse.killAndStart();
  await finished();
  assert.equal(await answer().locator("table tbody tr").count(), 2);
  await unfold(steps());
  await page.getByText("The server restarted and the run continued where it left off.").waitFor();
  const events = await log(await lastRun());
  for (const [type, count] of [
    ["run_started", 1],
    ["run_resumed", 1],
    ["agent_started", 2],
    ["file_changed", 1],
    ["run_finished", 1],
  ]) {
    assert.equal(events.split(`"type":"${type}"`).length - 1, count, type);
  }
});

test("a broken answer is told, and tried again", async () => {
  await newChat();
  await say("Broken");
  await page.getByRole("button", { name: "Retry" }).waitFor();
  assert.match(await answer().innerText(), /Half a sentence/);
});

test("edit and regenerate make branches that stay", async () => {
  await newChat();
  await say("First words");
  await page.getByText("Hello from the scripted model.").waitFor();
  await finished();
  await page.locator("article.user").hover();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Edit your message").fill("Other words");
  await page.keyboard.press("Enter");
  await page.getByText("Other words").waitFor();
  await finished();
  await page.getByRole("button", { name: "Regenerate" }).click();
  await page.getByRole("img", { name: "Version 2 of 2" }).nth(1).waitFor();
  await finished();
  await page.getByRole("button", { name: "Previous version" }).first().click();
  await page.getByText("First words").last().waitFor();
  const chat = await api(`/api/v1/chats/${chatId()}`);
  assert.equal(chat.messages.length, 5);
  await page.reload();
  await page.locator("article.user").getByText("First words").waitFor();
});

test("the tour needs no model, and asks before it changes a file", async () => {
  await newChat();
  await page.locator(".model-button").click();
  await page.getByRole("dialog").getByRole("button", { name: /Tour/ }).click();
  await say("Show me around");
  await page.locator("[data-allow]").click({ timeout: 60_000 });
  await page.getByText("marked final with your approval").waitFor({ timeout: 60_000 });
  await page
    .getByText(/October/)
    .first()
    .waitFor();
});

test("files are uploaded, compared, brought back, deleted and packed", async () => {
  const upload = (text) =>
    page
      .locator("aside input[type=file]")
      .setInputFiles({ name: "plan.md", mimeType: "text/markdown", buffer: Buffer.from(text) });
  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByRole("tab", { name: "Files" }).click();
  await page
    .locator("aside")
    .getByRole("button", { name: /^report\.md/ })
    .waitFor();
  await upload("one\ntwo\nthree\n");
  const file = page.locator("aside").getByRole("button", { name: /^plan\.md/ });
  await file.waitFor();
  await upload("one\n2\nthree\nfour\n");
  await file.click();
  await page.getByText("version 2").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.locator("aside tr.added").first().waitFor();
  assert.deepEqual(await page.locator("aside tr.added .line").allInnerTexts(), ["2", "four"]);
  assert.deepEqual(await page.locator("aside tr.removed .line").allInnerTexts(), ["two"]);
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByRole("button", { name: /Version 3/ }).waitFor();
  await page.getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "Delete: /plan.md" }).click();
  await file.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await file.waitFor();
  const text = await page.evaluate(
    async (chat) => (await fetch(`/api/v1/chats/${chat}/files/content?path=/plan.md`)).text(),
    chatId(),
  );
  assert.equal(text, "one\ntwo\nthree\n");
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download all as ZIP" }).click();
  const archive = await readFile(await (await download).path());
  assert.match((await download).suggestedFilename(), /\.zip$/);
  assert.equal(archive.subarray(0, 4).toString("hex"), "504b0304");
  for (const name of ["data/rain-2025.csv", "plan.md", "report.md"]) assert.ok(archive.includes(name), name);
});

test("what is allowed always is asked no more, until it is taken back", async () => {
  const tour = async () => {
    await newChat();
    await say("Show me around");
  };
  await tour();
  await page.locator("[data-allow]").waitFor({ timeout: 60_000 });
  await tour();
  await page.locator("[data-allow]").waitFor({ timeout: 60_000 });
  await page.getByRole("link", { name: /Needs your attention 2/ }).click();
  await page.waitForURL("**/inbox");
  const cards = page.locator("section.card");
  await cards.nth(1).waitFor();
  assert.equal(await cards.count(), 2);
  await cards.first().getByRole("button", { name: "More ways to allow" }).click();
  await page.getByRole("menuitem", { name: "Custom rule…" }).click();
  await page.getByRole("dialog").getByText("In all my chats").click();
  const path = page.getByLabel("File", { exact: true });
  await hasValue(path, "/report.md");
  await path.fill("/*.md");
  // This call, and the one that waits in the other chat.
  await page.getByText("Matching calls: 2 of 2").waitFor();
  await page.getByRole("button", { name: "Allow matching calls" }).click();
  // The other run continues too: the standing approval matches what it waits for.
  await page.getByText("You’re all caught up").waitFor();
  await tour();
  await page.getByText("marked final with your approval").waitFor({ timeout: 60_000 });
  await page.goto("/settings/consent");
  await page.getByText("path: /*.md").waitFor();
  await isAsked(page.getByRole("button", { name: "Ask again: edit_file" }), "Ask again");
  await page.getByText("Nothing is always allowed yet.").waitFor();
  await page.goto("/");
});

test("the page complained about nothing", () => {
  const expected = /Failed to load resource|net::ERR/;
  assert.deepEqual(
    page.complaints.filter((complaint) => !expected.test(complaint)),
    [],
  );
});
