/**
 * The steps of a run in words: one row per call with its figures, one line while it thinks or is retried, and notices
 * once.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, pause, reasoning, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const BODY = Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join("\n");
const plan = (status) => ["write_todos", { todos: [{ content: "Write the plan", status }] }];
const CASES = [
  { contains: "tides", turns: [turn(calls(["ls", { path: "/" }])), turn(text("They are high."))] },
  {
    contains: "Work",
    turns: [
      turn(reasoning("First I plan. ".repeat(20), 40), calls(plan("in_progress"))),
      turn(calls(["write_file", { path: "/plan.md", content: BODY }])),
      turn(calls(["edit_file", { path: "plan.md", old_text: "line 7\n", new_text: "seven\nand a half\n" }])),
      turn(calls(["grep", { pattern: "line 1" }], ["read_file", { path: "/nowhere.md" }])),
      turn(calls(["move_file", { from: "/plan.md", to: "/notes/plan.md" }])),
      turn(calls(["task", { description: "Look into the tides", subagent_type: "explore" }])),
      turn(calls(plan("completed"))),
      turn(pause(300), reasoning("Now I answer. ".repeat(20), 40), text("All is done.", 20)),
    ],
  },
  { contains: "Busy", turns: [{ status: 503, headers: { "retry-after": "1" }, body: "too busy" }] },
  { turns: [turn(text("Hello."))] },
];

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

const say = async (words) => {
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
};
const newChat = () => page.getByRole("button", { name: "New chat", exact: false }).first().click();
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
const turnOf = () => page.locator("article.assistant").last();
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/timeline-${name}.png` });
}

/** Records the maximum number of "Thinking…" that are shown at once. */
const watchThinking = () =>
  page.evaluate(() => {
    window.thinking = 0;
    const look = () => {
      const said = [...document.querySelectorAll("article.assistant .status, article.assistant .line")];
      const count = said.filter((line) => line.textContent.includes("Thinking…")).length;
      window.thinking = Math.max(window.thinking, count);
    };
    const changes = { childList: true, subtree: true, characterData: true };
    new MutationObserver(look).observe(document.body, changes);
  });

test("each call is one row in words with figures, and the plan is not among them", async () => {
  await watchThinking();
  await say("Work");
  await page.getByText("All is done.").waitFor();
  await finished();
  assert.equal(await page.evaluate(() => window.thinking), 1, "Thinking… is said once at a time");
  const toggle = page.locator("[data-steps-toggle]");
  assert.match(await toggle.innerText(), /9 steps\s· 1 failed\s· 1 sub-agent/);
  await unfold(toggle);
  const names = await page.locator(".steps > .body > ul > li .row .name").allInnerTexts();
  assert.deepEqual(names, [
    "Created plan.md",
    "Edited plan.md",
    "Searched the files: line 1",
    "Reading nowhere.md",
    "Moved plan.md to notes/plan.md",
    "Asked a sub-agent: Look into the tides",
  ]);
  const steps = await page.locator(".steps").innerText();
  for (const words of ["40 lines", "+2", "· 11 matches", "There is no file /nowhere.md", "They are high."]) {
    assert.ok(steps.includes(words), `${words} in ${steps}`);
  }
  assert.doesNotMatch(steps, /\b0 ms\b|write_file|write_todos|Wrote \/plan|To continue this sub-agent/);
  await check(page, "steps in words");
  await picture("steps");
});

test("the figure of a change opens it, and the tool's own name is a detail", async () => {
  const edited = page.locator(".step").filter({ has: page.getByRole("button", { name: /Edited plan/ }) });
  await edited.getByRole("button", { name: "Show the changes of plan.md" }).click();
  await page.locator("aside tr.added").first().waitFor();
  assert.equal(await page.locator("aside tr.added").count(), 2);
  await page.getByRole("button", { name: "Close panel" }).first().click();
  assert.equal(await edited.getByText("edit_file").count(), 0);
  await edited.getByRole("button", { name: /Edited plan/ }).click();
  await edited.getByText("edit_file", { exact: true }).waitFor();
  await edited.getByText('"old_text"').first().waitFor();
});

test("a model server that fails is one line while it is retried, and one sentence at the end", async () => {
  await newChat();
  // A retry may be over before a look at the page.
  await page.evaluate(() => {
    window.statuses = new Set();
    const look = () => window.statuses.add(document.querySelector(".status .text")?.textContent);
    const changes = { childList: true, subtree: true, characterData: true };
    new MutationObserver(look).observe(document.body, changes);
  });
  await say("Busy");
  await turnOf().getByText("The run failed.").waitFor();
  const statuses = await page.evaluate(() => [...window.statuses].join(" | "));
  assert.match(statuses, /Retrying[^|]*\(attempt 2 of 3\)…/);
  const shown = await turnOf().innerText();
  assert.equal(shown.split("too busy").length - 1, 1, shown);
  assert.doesNotMatch(shown, /Retrying/);
  await page.reload();
  await turnOf().getByText("The run failed.").waitFor();
  assert.equal((await turnOf().innerText()).split("too busy").length - 1, 1);
});

test.describe("with the fake server", () => {
  let server;

  test.beforeEach(async () => {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  });
  test.afterEach(async () => {
    assert.deepEqual(page.complaints, []);
    await page.context().close();
    await server.close();
  });

  async function begin(role) {
    server.user.role = role;
    page = await openPage(browser, { url: server.url });
    await page.goto("/");
  }

  test("a retry that succeeds leaves nothing behind", async () => {
    await begin("user");
    await say("overloaded");
    await page
      .locator(".status")
      .getByText(/Retrying in [12] s \(attempt 2 of 3\)…/)
      .waitFor();
    await page.getByText("It answers now.").waitFor();
    await finished();
    assert.doesNotMatch(await turnOf().innerText(), /overloaded|Retrying/);
  });

  const notice = () =>
    page.locator("article.assistant").getByText(/The MCP server .files. cannot be reached/);

  test("people see once per chat, in the steps, that an MCP server is away", async () => {
    await begin("user");
    await say("unreachable");
    await finished();
    assert.equal(await notice().count(), 0, "an answer without steps does not begin with it");
    await newChat();
    await say("unreachable, step one");
    await finished();
    await unfold(page.locator("[data-steps-toggle]").last());
    await notice().waitFor();
    await say("unreachable, step two");
    await page.getByText("Answered without it.").nth(1).waitFor();
    await finished();
    await unfold(page.locator("[data-steps-toggle]").last());
    await page.getByText("Listed files").nth(1).waitFor();
    assert.equal(await notice().count(), 1);
    assert.equal(await page.getByRole("link", { name: "Open tool settings" }).count(), 0);
  });

  test("administrators see it once, with the way to the settings", async () => {
    await begin("admin");
    await say("unreachable");
    await notice().waitFor();
    await finished();
    await say("unreachable again");
    await until("it answers again", async () => (await page.getByText("Answered without it.").count()) === 2);
    await finished();
    assert.equal(await notice().count(), 1);
    await check(page, "a notice for administrators");
    await page.getByRole("link", { name: "Open tool settings" }).click();
    await page.waitForURL("**/settings/tools");
  });
});
