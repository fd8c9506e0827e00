/**
 * Web search before the answer, with the real program, a scripted model and a small local web: the switch, the status
 * while searching, the citations and their stored pages, also after a reload; and queries in the settings.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const FACT = "The Korvel lighthouse is 47 metres high.";
const PAGES = {
  "/korvel": ["The Korvel lighthouse", `<p>${FACT} It stands on a rock.</p>`],
  "/keepers": ["The keepers of Korvel", "<p>Its first keeper wrote down the weather of every day.</p>"],
};
const ANSWER = "It is **47 metres** high [1]. Its keeper noted the weather [2], and nobody knows more [9].";
const CASES = [
  {
    contains: "Write 1 to 3 short search queries",
    turns: [
      turn(pause(800), text(JSON.stringify({ queries: ["Korvel lighthouse height", "Korvel keepers"] }))),
    ],
  },
  { contains: "Thanks", turns: [turn(text("You are welcome."))] },
  { contains: "<context>", turns: [turn(pause(800), text(ANSWER, 200))] },
  { contains: "", turns: [turn(text("I do not know."))] },
];

/** Web pages, and a search over them in SearXNG's format. */
async function startWeb() {
  const searched = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    if (url.pathname === "/search") {
      searched.push(url.searchParams.get("q"));
      const results = Object.entries(PAGES).map(([path, [title]]) => ({
        url: `${url.origin}${path}`,
        title,
        content: title,
      }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ results }));
      return;
    }
    const page = PAGES[url.pathname];
    response.statusCode = page ? 200 : 404;
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(
      page ? `<!doctype html><title>${page[0]}</title><article><h1>${page[0]}</h1>${page[1]}</article>` : "",
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    searched,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

let browser, glasshouse, model, page, web;

test.beforeAll(async () => {
  web = await startWeb();
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse({
      GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.0/8",
      GLASSHOUSE_WEB_SEARCH: "searxng",
      GLASSHOUSE_WEB_SEARCH_URL: web.url,
      GLASSHOUSE_WEB_PAUSE_MS: "0",
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop(), web?.stop()]);
});

const button = () => page.locator("[data-web]");
const box = () => page.locator("#composer");

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
      await page.screenshot({ path: `${folder}/web-search-${name}-${size}-${colorScheme}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
}

test("the switch is kept over a reload, and gives way to research", async () => {
  await page.goto("/");
  await button().waitFor();
  assert.equal(await button().getAttribute("aria-pressed"), "false");
  await button().click();
  assert.equal(await button().getAttribute("aria-pressed"), "true");
  await page.reload();
  await page.locator("[data-web][aria-pressed=true]").waitFor();
  await page.locator("[data-mode]").click();
  assert.equal(await button().getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator("[data-mode]").getAttribute("data-mode"), "research");
  await button().click();
  assert.equal(await page.locator("[data-mode]").getAttribute("data-mode"), "chat");
  await check(page, "the composer with the switch on");
  await pictures("switch");
});

test("the web is searched, read and cited", async () => {
  await box().fill("How high is the Korvel lighthouse?");
  await page.keyboard.press("Enter");
  await page.getByText("Deciding what to search for…").first().waitFor();
  await page.getByText("47 metres", { exact: true }).waitFor();
  await page.getByText("and nobody knows more").waitFor();
  assert.deepEqual(web.searched, ["Korvel lighthouse height", "Korvel keepers"]);
  const answer = await page.locator("[data-cite]").allTextContents();
  assert.deepEqual(answer, ["1", "2"], "what no source has is not cited");
  await page.locator("[data-cite]").first().hover();
  // The stored page is Markdown that begins with the title, but the card shows plain text.
  const card = page.getByRole("tooltip");
  await card.getByText(`${FACT} It stands on a rock.`, { exact: true }).waitFor();
  assert.equal(await card.locator("mark").innerText(), FACT, "the sentence that is cited");
  await pictures("answer");
  const [opened] = await Promise.all([
    page.context().waitForEvent("page"),
    page.locator("[data-cite]").first().click(),
  ]);
  await opened.locator("article mark").waitFor();
  assert.equal(await opened.locator("article mark").innerText(), FACT);
  await opened.getByRole("heading", { level: 2, name: "The Korvel lighthouse" }).waitFor();
  if (process.env.E2E_PICTURES)
    await opened.screenshot({ path: `${process.env.E2E_PICTURES}/web-search-page.png` });
  await opened.close();
  await page.reload();
  await page.getByRole("button", { name: /Sources · 2/ }).click();
  const source = page.getByRole("link", { name: "The Korvel lighthouse", exact: true });
  assert.match((await source.getAttribute("href")) ?? "", /^\/pages\/page_[0-9a-f]+\?from=\d+&to=\d+/);
  await check(page, "the sources");
  await pictures("sources");
});

test("the next message is looked up, too, until the switch is off", async () => {
  const before = web.searched.length;
  assert.equal(await button().getAttribute("aria-pressed"), "true");
  await button().click();
  await box().fill("Thanks");
  await page.keyboard.press("Enter");
  await page.getByText("You are welcome.").waitFor();
  assert.equal(web.searched.length, before);
});

test("an administrator says what queries are worked out for", async () => {
  await page.goto("/settings/pipelines");
  const documents = page.getByRole("switch", { name: "In documents" });
  await documents.waitFor();
  assert.equal(await documents.isChecked(), true);
  await documents.click();
  await page.getByText("Saved").first().waitFor();
  await page.reload();
  await documents.waitFor();
  assert.equal(await documents.isChecked(), false);
  await check(page, "the pipelines");
  await pictures("settings");
});

test("in Russian", async () => {
  await page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem("glasshouse.preferences") ?? "{}");
    localStorage.setItem("glasshouse.preferences", JSON.stringify({ ...kept, language: "ru" }));
  });
  await page.goto("/");
  await button().click();
  await page.getByRole("button", { name: "Поиск в интернете" }).waitFor();
  await box().fill("Какой высоты маяк? How high is it?");
  await page.keyboard.press("Enter");
  await page.getByText("Решает, что искать…").first().waitFor();
  await page.getByText("and nobody knows more").waitFor();
  await pictures("russian");
  await page.goto("/settings/pipelines");
  await page.getByRole("switch", { name: "В документах" }).waitFor();
  await pictures("russian-settings");
});
