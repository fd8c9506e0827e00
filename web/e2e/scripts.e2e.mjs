/**
 * A page that is empty until its scripts have run, with the real program and a real Chromium: it is added to a
 * collection, and an agent reads it; stored copies contain what the scripts rendered.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** Not in the page's source: assembled by a script. */
const SHOWN = "The boat to Korvel leaves at 07:40 from the north pier.";
const SCRIPT = `fetch("boats.json").then((answer) => answer.json()).then(({ where, time }) => {
  document.title = "Boats";
  const heading = document.createElement("h1");
  heading.textContent = "Boats of the day";
  const line = document.createElement("p");
  line.textContent = ["The boat to", where, "leaves at", time, "from the north pier."].join(" ");
  document.querySelector("#app").append(heading, line);
});`;
const PAGES = {
  "/boats": [
    "text/html; charset=utf-8",
    '<!doctype html><title></title><div id="app"></div><script src="app.js"></script>',
  ],
  "/app.js": ["text/javascript", SCRIPT],
  "/boats.json": ["application/json", JSON.stringify({ where: "Korvel", time: "07:40" })],
};

async function startWeb() {
  const server = createServer((request, response) => {
    const [type, body] = PAGES[request.url] ?? ["text/plain", ""];
    response.writeHead(body ? 200 : 404, { "content-type": type });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/boats`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

let browser, glasshouse, model, page, web;

test.beforeAll(async () => {
  web = await startWeb();
  const chromium = process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
  const cases = [
    {
      contains: "When does the boat leave?",
      turns: [
        turn(calls(["fetch_page", { url: web.url }])),
        turn(text("At **07:40**, as the page of the boats says.")),
      ],
    },
  ];
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(cases),
    startGlasshouse({
      GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.0/8",
      GLASSHOUSE_WEB_BROWSER: chromium,
      GLASSHOUSE_WEB_BROWSER_SECONDS: "60",
      GLASSHOUSE_WEB_PAUSE_MS: "0",
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  // Starting a browser for the page takes time.
  page.setDefaultTimeout(30_000);
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop(), web?.stop()]);
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/scripts-${name}.png`, fullPage: true });
}

test("nothing of it stands in what its server sends", async () => {
  for (const [, body] of Object.values(PAGES)) assert.ok(!body.includes(SHOWN));
});

test("in a collection it is what its scripts show, and is found by it", async () => {
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Travel" } });
  assert.ok(made.ok(), await made.text());
  await page.goto("/knowledge");
  await page.getByRole("link", { name: "Travel" }).click();
  await page.getByLabel("URL of a page or site").fill(web.url);
  await page.getByRole("button", { name: "Add from the web" }).click();
  await page.getByRole("link", { name: /boats\.html$/ }).click();
  await page.getByText(SHOWN).waitFor();
  await picture("document");
  await check(page, "a page that its scripts have shown");
  const data = { query: "When leaves the boat to Korvel?" };
  const { results } = await (await page.request.post("/api/v1/knowledge/search", { data })).json();
  assert.ok(results[0].text.includes(SHOWN), JSON.stringify(results));
});

test("an agent reads it, and the copy that its answer leads to says so", async () => {
  await page.goto("/");
  await page.getByRole("button", { name: "scripted" }).waitFor();
  await page.locator("#composer").fill(`When does the boat leave? See ${web.url}`);
  await page.keyboard.press("Enter");
  await page.getByText("07:40", { exact: true }).waitFor();
  await page.getByRole("button", { name: /Sources · 1/ }).click();
  await picture("answer");
  // It opens in another tab.
  const copy = await page.getByRole("link", { name: "Boats", exact: true }).getAttribute("href");
  assert.match(copy ?? "", /^\/pages\/page_[0-9a-f]+\?from=0&to=\d+&run=run_/);
  await page.goto(copy);
  await page.locator("mark").getByText(SHOWN).waitFor();
  await picture("copy");
  await check(page, "the copy of a page that its scripts have shown");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("copy-phone-dark");
  assert.deepEqual(page.complaints, []);
});
