/** The debug panel with the fake server: raw events and protocols, live, searched, exported. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";
import { copiedBy, launch, openPage } from "./browser.mjs";
import { encoderOf } from "./fake/formats.mjs";
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

const say = async (text) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
};
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
const openPanel = async () => {
  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByRole("tab", { name: "Debug" }).click();
  await row().first().waitFor();
};
const row = (name) =>
  name === undefined ? page.locator("[data-row]") : page.locator("[data-row]").filter({ hasText: name });
const status = () => page.locator(".debug .status");
const choose = async (format) => {
  await page.getByRole("button", { name: /^Format/ }).click();
  await page.locator(`[data-value=${format}]`).click();
};
const complete = () => status().getByText("Complete").waitFor();
/** In the answer itself, because the panel may show the same text. */
const inAnswer = (words) => page.locator("article.assistant").last().getByText(words);
const list = () => page.getByRole("group", { name: "Events" });
const lastRun = () => [...server.runs.values()].at(-1);

/** Clicks an item of the export menu and returns the downloaded file. */
async function saved(item) {
  await page.getByRole("button", { name: "Copy or download" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: item }).click(),
  ]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
}
const linesOf = ({ text }) => text.trimEnd().split("\n").map(JSON.parse);

/** The frames of the last run in a format, as lines of an exported file. */
function sentAs(format) {
  const encode = encoderOf(new URLSearchParams({ format }));
  const frames = lastRun().log.flatMap(encode);
  return frames.map((frame) => {
    const fields = Object.fromEntries(
      [...frame.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    return { ...fields, data: fields.data === "[DONE]" ? fields.data : JSON.parse(fields.data) };
  });
}

test.describe("the debug panel", () => {
  test.beforeEach(async () => {
    server = await new FakeServer({ pace: 0.2, account: true, model: true }).listen();
    page = await openPage(browser, { url: server.url });
    await page.goto("/");
  });
  test.afterEach(async () => {
    const faults = page.complaints.filter((text) => !/Failed to load resource|net::ERR/.test(text));
    assert.deepEqual(faults, []);
    await page.context().close();
    await server.close();
  });

  test("filters by type and agent, searches, opens, copies, saves", async () => {
    server.pace = 0.02;
    await say("Give me the tour");
    await page.locator("[data-allow]").click();
    await finished();
    await openPanel();
    await complete();
    const { log } = lastRun();
    await status().getByText(`${log.length} events`).waitFor();
    assert.deepEqual(linesOf(await saved(/full log/)), log);

    await page.getByRole("button", { name: "Types" }).click();
    await page.getByRole("menuitemradio", { name: "Without deltas" }).click();
    const wholes = log.filter(({ body }) => !body.type.endsWith("_delta"));
    await status().getByText(`${wholes.length} of ${log.length} events`).waitFor();
    await page.getByRole("menuitemradio", { name: "None" }).click();
    await page.getByText("No matching events").waitFor();
    await page.getByRole("menuitemcheckbox", { name: /tool_finished/ }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Agents", exact: true }).click();
    await page.getByRole("menuitemcheckbox", { name: "Main agent" }).click();
    await page.keyboard.press("Escape");
    const chosen = log.filter(({ agent, body }) => agent && body.type === "tool_finished");
    const shown = await saved(/Download visible/);
    assert.deepEqual(linesOf(shown), chosen);
    assert.match(shown.name, /^run_\d+-native-filtered\.jsonl$/);

    const field = page.getByRole("searchbox", { name: "Search events" });
    await field.fill("119627");
    await list().locator("mark", { hasText: "119627" }).waitFor();
    assert.equal(await row().count(), 1);
    await row().click();
    await list().locator("pre mark", { hasText: "119627" }).waitFor();
    const copied = await copiedBy(page.getByRole("button", { name: "Copy this event" }));
    assert.deepEqual(
      JSON.parse(copied),
      chosen.find(({ body }) => body.result === "119627 rows"),
    );
    await field.press("Escape");
    assert.equal(await field.inputValue(), "");
  });

  test("follows the newest until one scrolls up; a cut loses and repeats nothing", async () => {
    await say("count");
    await openPanel();
    await inAnswer(/\bword300\b/).waitFor();
    const distance = () => list().evaluate((it) => it.scrollHeight - it.clientHeight - it.scrollTop);
    await page.waitForFunction(() => document.querySelectorAll("[data-row]").length > 10);
    await list().hover();
    await page.mouse.wheel(0, -600);
    const jump = page.getByRole("button", { name: /Jump to latest/ });
    await jump.locator(".fresh").waitFor();
    const top = await list().evaluate((it) => it.scrollTop);
    server.cut();
    await inAnswer(/\bword900\b/).waitFor();
    assert.equal(await list().evaluate((it) => it.scrollTop), top, "reading is not disturbed");
    await jump.click();
    await page.waitForFunction(() => !document.querySelector(".jump"));
    await finished();
    await complete();
    await list()
      .getByRole("button", { name: /run_finished/ })
      .waitFor();
    assert.ok((await distance()) < 2);
    assert.deepEqual(linesOf(await saved(/full log/)), lastRun().log);
  });

  for (const [name, format] of [
    ["OpenAI", "openai"],
    ["AG-UI", "ag_ui"],
  ]) {
    test(`${name}: the frames as sent, live and through a cut`, async () => {
      await say("count");
      await openPanel();
      await choose(format);
      await inAnswer(/\bword300\b/).waitFor();
      server.cut();
      await finished();
      await complete();
      assert.deepEqual(linesOf(await saved(/full log/)), sentAs(format));
      await list()
        .getByText(/word\d+/)
        .first()
        .waitFor();
    });
  }

  test("a frame opens as it was sent, and what is no JSON is text", async () => {
    await say("hostile");
    await finished();
    await openPanel();
    await choose("tool_calls");
    const frame = row(/not JSON/);
    await frame.click();
    assert.equal(
      await list().locator("pre").innerText(),
      "event: message\nid: " +
        lastRun().log.length +
        "\ndata: <img src=x onerror=window.hacked=1><b>not JSON</b>",
    );
    await row(/cut/).click();
    await list().locator("pre", { hasText: '{"type": "status", "cut' }).waitFor();
    await choose("native");
    await page.getByRole("searchbox", { name: "Search events" }).fill("<script>");
    await list().locator("mark", { hasText: "<script>" }).first().waitFor();
    await row().first().click();
    await list().locator("pre mark").first().waitFor();
    assert.equal(await list().locator("img, b:has(b), script").count(), 0);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
  });

  test("an earlier run can be chosen, and a new one comes by itself", async () => {
    await say("first words");
    await finished();
    await openPanel();
    await say("second words");
    await page.getByRole("button", { name: "Run: 2 · second words" }).waitFor();
    await page.locator("article").getByText("You said: second words").waitFor();
    await complete();
    await page.getByRole("button", { name: /^Run: 2/ }).click();
    await page.getByRole("menuitemradio", { name: /1 · first words/ }).click();
    await row(/text_delta\s*first/).waitFor();
    await say("third words");
    await page.locator("article").getByText("You said: third words").waitFor();
    assert.equal(await page.getByRole("button", { name: "Run: 1 · first words" }).count(), 1);
    await complete();
    assert.equal(JSON.parse((await saved(/full log/)).text.split("\n")[0]).run, [...server.runs.keys()][0]);
  });

  test("the keyboard goes through the events", async () => {
    await say("some words");
    await finished();
    await openPanel();
    await complete();
    await row().first().focus();
    const focused = () => page.evaluate(() => document.activeElement?.dataset.row);
    const focusOn = (index) =>
      page.waitForFunction((wanted) => document.activeElement?.dataset.row === wanted, String(index));
    await page.keyboard.press("ArrowDown");
    await focusOn(1);
    await page.keyboard.press("Enter");
    await list().locator("pre").waitFor();
    await page.keyboard.press("End");
    await focusOn(lastRun().log.length - 1);
    await page.keyboard.press("ArrowUp");
    await focusOn(lastRun().log.length - 2);
    await page.keyboard.press("Shift+Tab");
    assert.equal(await focused(), undefined);
    await page.keyboard.press("Tab");
    await focusOn(lastRun().log.length - 2);
    await page.keyboard.press("Home");
    await focusOn(0);
  });

  test("twenty thousand events open, search and scroll, with few of them in the page", async () => {
    await say("flood");
    await finished();
    await openPanel();
    await status().getByText("20,000 events").waitFor();
    assert.ok((await row().count()) < 60);
    await row().first().focus();
    await page.keyboard.press("End");
    await row(/run_finished/).waitFor();
    await page.getByRole("searchbox", { name: "Search events" }).fill("drop19995");
    await status().getByText("2 of 20,000 events").waitFor();
    assert.ok((await row().count()) < 60);
  });
});
