/** The page with the fake server: the main journey, and what must never happen. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { hasValue, launch, openPage, unfold } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(async () => {
  await browser.close();
});

async function begin(serverOptions, pageOptions = {}) {
  server = await new FakeServer({ pace: 0.2, ...serverOptions }).listen();
  page = await openPage(browser, { url: server.url, ...pageOptions });
  await page.goto("/");
}

async function end() {
  await page.context().close();
  await server.close();
}

async function say(text) {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

const steps = () => page.locator("[data-steps-toggle]");
const lastAnswer = () => page.locator("article.assistant .answer").last();
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
/** Scrolls to the end and lets the page notice it. */
const toEnd = () =>
  page.getByRole("log").evaluate((log) => {
    log.scrollTop = log.scrollHeight;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });

test.describe("the first minute", () => {
  test.beforeAll(() => begin({}));
  test.afterAll(end);

  test("the first visitor makes the administrator's account", async () => {
    await page.waitForURL("**/setup");
    await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
    await page.getByLabel("Email").fill("ada@example.org");
    await page.getByLabel("Password").fill("short");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByText("at least 8 characters").waitFor();
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.waitForURL("**/welcome");
  });

  test("a wrong address is explained, a found server connects with one click", async () => {
    await page.getByLabel("Base URL").fill("http://wrong.example/v1");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("Could not connect to http://wrong.example/v1").waitFor();
    await page
      .getByRole("main")
      .getByRole("listitem")
      .filter({ hasText: "Ollama" })
      .getByRole("button")
      .click();
    await page.getByText("Connected").waitFor();
    await page.getByRole("button", { name: "Go to chats" }).click();
    await page.getByRole("button", { name: /qwen3-30b/ }).waitFor();
  });

  test("a server is told who asks only where somebody has said so", async () => {
    await page.goto("/settings/models");
    const foldConnection = () => page.getByRole("button", { name: /^Settings for/ }).click();
    await foldConnection();
    const told = page.getByRole("switch", { name: "Forward user info" });
    assert.equal(await told.isChecked(), false);
    await page.route("**/api/v1/connections/*", (route) => route.fulfill({ status: 500, body: "" }));
    const changed = () => page.waitForResponse((response) => response.request().method() === "PATCH");
    const refused = changed();
    await told.click();
    await refused;
    assert.equal(await told.isChecked(), false, "a refusal changes nothing");
    await page.unroute("**/api/v1/connections/*");
    const done = changed();
    await told.click();
    await done;
    assert.equal(server.connections[0].trusted, true);
    await page.reload();
    await foldConnection();
    await told.waitFor();
    assert.equal(await told.isChecked(), true);
    await foldConnection();
  });

  test("a model to ask in another's place is chosen, kept and taken away", async () => {
    const open = () => page.getByRole("button", { name: /^qwen3-30b/ }).click();
    const save = () => page.getByRole("button", { name: "Save", exact: true }).click();
    const kept = () => server.models.find((model) => model.id === "qwen3-30b").fallbacks;
    const first = page.getByLabel("Fallback 1");
    await open();
    await first.selectOption("llama-3.3-70b");
    assert.equal(await page.getByLabel("Fallback 2").count(), 0, "there are no more models");
    await save();
    await first.waitFor({ state: "hidden" });
    assert.deepEqual(kept(), ["llama-3.3-70b"]);
    await open();
    await hasValue(first, "llama-3.3-70b");
    await first.selectOption("");
    await save();
    await first.waitFor({ state: "hidden" });
    assert.deepEqual(kept(), []);
  });

  test("a model's form shows the price list under the prices that are set", async () => {
    await page.getByRole("button", { name: /^qwen3-30b/ }).click();
    await page.getByText("List price of qwen3-30b at Anthropic (genai-prices 0.2.3, 2026-11-26)").waitFor();
    await page.getByText("Prompts above 200k tokens cost more.").waitFor();
    const cached = page.getByLabel("Cached input, USD per million tokens");
    assert.equal(await cached.getAttribute("placeholder"), "0.3");
    const written = page.getByLabel("Cache write, USD per million tokens");
    assert.equal(await written.getAttribute("placeholder"), "same as input");
    await cached.fill("0,25");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await cached.waitFor({ state: "hidden" });
    const kept = server.models.find((model) => model.id === "qwen3-30b");
    assert.equal(kept.cached_input_usd_per_million, 0.25);
    assert.equal(kept.cache_write_usd_per_million, null);
  });

  test("after logging out the place is kept", async () => {
    server.signedIn = false;
    await page.goto("/settings/keys");
    await page.waitForURL("**/login?next=*");
    await page.getByLabel("Email").fill("ada@example.org");
    await page.getByLabel("Password").fill("wrong wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Wrong email or password.").waitFor();
    await page.getByLabel("Password").fill("correct horse");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL("**/settings/keys");
  });

  test("a key is shown once", async () => {
    await page.getByLabel("Name", { exact: true }).fill("Open WebUI");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.locator(".secret").getByText("gh_7f3a0b1c2d4e5f60718293a4b5c6d7e8f").waitFor();
    await page.reload();
    await page.getByText("Open WebUI").waitFor();
    assert.equal(await page.getByText("gh_7f3a0b1c2d4e5f60718293a4b5c6d7e8f").count(), 0);
  });
});

test.describe("a run", () => {
  test.beforeEach(() => begin({ account: true, model: true }));
  test.afterEach(async () => {
    // Connection errors are expected where a test cuts the connection; anything else is a failure.
    const faults = page.complaints.filter((text) => !/Failed to load resource|net::ERR/.test(text));
    assert.deepEqual(faults, []);
    await end();
  });

  test("with sub-agents: approve with an edit, watch, finish, look inside", async () => {
    await say("Give me the tour");
    const card = page.getByRole("region", { name: /^Publish a note Licence reader · publish_note/ });
    await card.getByRole("button", { name: "Edit" }).click();
    await card.getByRole("button", { name: "Edit as JSON" }).click();
    const field = card.getByLabel("Arguments as JSON");
    await field.fill("{ not json");
    await card.getByText("Invalid JSON").waitFor();
    await field.fill('{"path": 7}');
    await card.getByRole("button", { name: "Allow with changes" }).click();
    await card.getByText("path must be a text").waitFor();
    await field.fill('{"path": "/notes.md", "note": "changed"}');
    // The steps collapse only if the reader is at the end; while the run waits, there is time to scroll there.
    await toEnd();
    await card.getByRole("button", { name: "Allow with changes" }).click();
    await card.waitFor({ state: "detached" });

    await finished();
    assert.equal(await steps().getAttribute("aria-expanded"), "false");
    assert.match(await steps().innerText(), /11 steps\s· 1 failed\s· 2 sub-agents/);
    assert.equal(await lastAnswer().locator("table tbody tr").count(), 3);

    await steps().click();
    await page.getByText("There is no file /archive/index.md").waitFor();
    await page.getByRole("button", { name: /Licence reader/ }).click();
    await page.getByRole("button", { name: /Publish note/ }).click();
    await page.getByText('"note": "changed"').waitFor();
  });

  test("a long result comes in full on demand, and search marks it", async () => {
    await say("Give me the tour");
    await page.locator("[data-allow]").click();
    await finished();
    await page.reload();
    await unfold(steps());
    await page.getByRole("button", { name: /^done Searched the files/ }).click();
    assert.equal(await page.getByText("400: hyg_v41.csv").count(), 0);
    await page.getByRole("button", { name: "Show all" }).first().click();
    await page.getByText("400: hyg_v41.csv").waitFor();

    await page.getByRole("button", { name: "Search steps" }).click();
    await page.getByRole("searchbox", { name: "Search steps" }).fill("magnitude 8.9");
    await page.locator("mark", { hasText: "magnitude 8.9" }).first().waitFor();
    assert.equal(await page.getByRole("button", { name: /Created report\.md/ }).count(), 0);
  });

  test("document_000: the open step block previews what each call gave, without a click", async () => {
    await say("Give me the tour");
    await page.locator("[data-allow]").click();
    await finished();
    await unfold(steps());
    const row = (name) => page.getByRole("button", { name });
    const preview = (name) =>
      page
        .locator(".step")
        .filter({ has: row(name) })
        .last()
        .locator("p");
    const long = await preview(/^done Searched the files/).innerText();
    assert.match(long, /^1: hyg_v41\.csv row 0 .*\.\.\.$/);
    assert.equal(long.length, 203);
    const error = "There is no file /archive/index.md. Use ls to see what there is.";
    assert.equal(await preview(/^failed Reading archive/).innerText(), error);
    assert.equal(await page.getByText(error).count(), 1);
    assert.equal(await preview(/^done Created report\.md/).count(), 0, "the row says all");
    assert.match(await preview(/Catalogue reader/).innerText(), /^Catalogue reader is done: /);
    // The full result replaces the preview.
    await row(/^done Searched the files/).press("Enter");
    await page.getByRole("button", { name: "Show all" }).waitFor();
    assert.equal(await preview(/^done Searched the files/).count(), 0);
  });

  test("a reload in the middle loses nothing", async () => {
    await say("Give me the tour");
    await page.locator("[data-allow]").waitFor();
    const stepsBefore = await page.locator(".steps .name").allInnerTexts();
    await page.reload();
    await page.locator("[data-allow]").waitFor();
    assert.deepEqual(
      (await page.locator(".steps .name").allInnerTexts()).slice(0, 4),
      stepsBefore.slice(0, 4),
    );
    await page.locator("[data-allow]").click();
    await finished();
    assert.match(await lastAnswer().innerText(), /Three catalogues fit/);
  });

  test("a cut line is told, and comes back without repeating a word", async () => {
    await say("count");
    await page.getByText(/word40\b/).waitFor();
    server.offline = true;
    server.cut();
    await page.getByText("Connection lost. The run continues").first().waitFor();
    server.offline = false;
    await page.locator(".banner").waitFor({ state: "detached" });
    await finished();
    const words = (await lastAnswer().textContent()).trim().split(/\s+/);
    assert.deepEqual(
      words,
      Array.from({ length: 2000 }, (_, index) => `word${index + 1}`),
    );
  });

  test("Escape stops it and keeps what was written", async () => {
    await say("count");
    await page.getByText(/word40\b/).waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("Press Esc again to stop the run").last().waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("You stopped this answer.").waitFor();
    assert.match(await lastAnswer().innerText(), /^word1 word2/);
    assert.equal(await page.locator(".spinner").count(), 0);
  });

  test("a question is answered with a button", async () => {
    await say("ask me");
    await page.getByRole("button", { name: "Plain text" }).click();
    await page.getByText("the report will be Plain text").waitFor();
    await finished();
    await unfold(steps());
    // The answer has its own row, once.
    await page.getByRole("button", { name: /^done Asked you/ }).waitFor();
    assert.equal(await page.locator(".steps").getByText("Plain text", { exact: true }).count(), 1);
  });

  test("a denial carries its reason", async () => {
    await say("Give me the tour");
    await page.getByRole("region", { name: /publish_note/ }).waitFor();
    await page.keyboard.press("Control+Alt+Backspace");
    await page.getByLabel(/Tell the agent why/).fill("not yet");
    await page.keyboard.press("Enter");
    await finished();
    await unfold(steps());
    await page.getByRole("button", { name: /Licence reader/ }).click();
    await page.getByText("Denied: not yet").waitFor();
  });

  test("faults and limits are said in words", async () => {
    await say("fail");
    await page.getByText("did not answer within 60 s").first().waitFor();
    await page.getByRole("button", { name: "Retry" }).waitFor();
    await say("limit");
    await page.getByText("The limit of 40 steps was reached.").first().waitFor();
  });

  test("older steps that became a summary are a quiet line that opens", async () => {
    await say("compact it");
    await finished();
    await unfold(steps());
    const line = page.getByRole("button", { name: "Older steps summarized: 48,000 → 6,000 tokens" });
    await line.click();
    await page.getByText("Still to do: write the report.").waitFor();
    await line.click();
    await page.getByText("Still to do: write the report.").waitFor({ state: "hidden" });
    await page.getByText("Older steps dropped: 48,120 → 9,300 tokens").waitFor();
  });

  test("edit and regenerate make versions one can go through", async () => {
    await say("first words");
    await page.getByText("You said: first words").waitFor();
    await finished();
    await page.locator("article.user").hover();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Edit your message").fill("second words");
    await page.keyboard.press("Enter");
    await page.getByText("You said: second words").waitFor();
    await finished();
    await page.getByRole("button", { name: "Regenerate" }).click();
    await page.getByRole("img", { name: "Version 2 of 2" }).nth(1).waitFor();
    await finished();
    await page.getByRole("button", { name: "Previous version" }).first().click();
    await page.getByText("You said: first words").waitFor();
    await page.reload();
    await page.getByText("You said: first words").waitFor();
  });

  test("nothing a model or a tool says can run or load", async () => {
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await say("hostile");
    await finished();
    await unfold(steps());
    await page.getByRole("button", { name: /Read <img/ }).click();
    await page.getByText("<script>window.hacked=1</script><b>bold</b>").first().waitFor();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:")),
      [],
    );
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0);
  });
});

test.describe("chats", () => {
  test.beforeEach(async () => {
    await begin({ account: true, model: true });
  });
  test.afterEach(end);

  test("search, rename, delete", async () => {
    server.addChat("Photosynthesis explained");
    server.addChat("Invoice parser");
    await page.reload();
    await page.getByRole("link", { name: "Photosynthesis" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.locator("#chat-search:focus").waitFor();
    await page.keyboard.type("invoice");
    await page.getByRole("link", { name: "Photosynthesis" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Invoice parser" }).hover();
    await page.getByRole("button", { name: "Actions for “Invoice parser”" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.locator("input:focus").waitFor();
    await page.keyboard.type("Bill parser");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Bill parser" }).hover();
    await page.getByRole("button", { name: "Actions for “Bill parser”" }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("link", { name: "Bill parser" }).waitFor({ state: "detached" });
    assert.equal(server.chats.size, 1);
  });

  test("a draft stays with its chat", async () => {
    const [one, two] = [server.addChat("One"), server.addChat("Two")];
    await page.goto(`/c/${one.id}`);
    await page.getByLabel("Message").fill("half a thought");
    await page.getByRole("link", { name: "Two" }).click();
    assert.equal(await page.getByLabel("Message").inputValue(), "");
    await page.getByRole("link", { name: "One" }).click();
    await hasValue(page.getByLabel("Message"), "half a thought");
    await page.reload();
    await hasValue(page.getByLabel("Message"), "half a thought");
    assert.equal(new URL(page.url()).pathname, `/c/${one.id}`);
    assert.ok(two);
  });

  test("an answer longer than many screens that comes at once is shown at its end, and stays where one reads", async () => {
    const paragraphs = Array.from({ length: 400 }, (_, index) =>
      index % 4 === 3
        ? `\`\`\`python\nline = ${index}\nmore = line + 1\n\`\`\``
        : `## Part ${index}\n\n- a point\n- **another** one`,
    );
    const messages = [
      {
        id: "msg_q",
        parent: null,
        role: "user",
        content: [{ type: "text", text: "All of it" }],
        created_at: 1,
      },
      {
        id: "msg_a",
        parent: "msg_q",
        role: "assistant",
        content: [{ type: "text", text: `${paragraphs.join("\n\n")}\n\nThe very end.` }],
        created_at: 2,
      },
    ];
    const chat = server.addChat("One long answer", { messages });
    await page.goto(`/c/${chat.id}`);
    const log = page.getByRole("log");
    await page.getByText("The very end.").waitFor();
    const places = () =>
      log.evaluate(async (log) => {
        const seen = [];
        for (let frame = 0; frame < 60; frame += 1) {
          await new Promise((done) => requestAnimationFrame(done));
          seen.push([
            log.scrollTop,
            log.scrollHeight - log.clientHeight - log.scrollTop,
            log.querySelectorAll("article.assistant").length,
          ]);
        }
        return seen;
      });
    // Skipped content is measured as it comes into view: finding the end takes at most a second.
    await places();
    for (const [, distance, answers] of await places()) {
      assert.equal(answers, 1);
      assert.ok(distance < 2, `at the end, not ${distance} px above`);
    }
    await log.hover();
    await page.mouse.wheel(0, -3000);
    await places();
    const [[top], ...later] = await places();
    assert.ok(top > 3000, `${top}`);
    for (const [at, , answers] of later) assert.deepEqual([at, answers], [top, 1], "nothing moves by itself");
  });

  test("two thousand messages open at the end, with few of them in the page", async () => {
    const messages = Array.from({ length: 2000 }, (_, index) => ({
      id: `msg_${index}`,
      parent: index === 0 ? null : `msg_${index - 1}`,
      role: index % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: `Message ${index}\n\n- a point\n- **another** one` }],
      created_at: index,
    }));
    const chat = server.addChat("Long", { messages });
    await page.goto(`/c/${chat.id}`);
    await page.getByText("Message 1999").waitFor();
    assert.ok((await page.locator("article").count()) < 40);
    const distance = () =>
      page.getByRole("log").evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop);
    assert.ok((await distance()) < 2, `at the end, not ${await distance()} px above`);
    const focused = () => page.evaluate(() => Number(document.activeElement?.dataset.turn ?? Infinity));
    await page.keyboard.press("Alt+ArrowUp");
    await page.waitForFunction(() => document.activeElement?.dataset.turn !== undefined);
    const first = await focused();
    await page.keyboard.press("Alt+ArrowUp");
    await page.waitForFunction((turn) => Number(document.activeElement?.dataset.turn) < turn, first);
    assert.ok(first - (await focused()) <= 2 && first >= 1997, `from ${first} to ${await focused()}`);
  });
});
