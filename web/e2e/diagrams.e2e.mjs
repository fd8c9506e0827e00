/**
 * Diagrams and external images with the real program: how they are rendered, the fallbacks, and which servers are
 * contacted.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { copiedBy, launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const fence = (source) => "```mermaid\n" + source + "\n```";
const FLOW =
  "graph TD\n  A[Question] -->|asks| B{Known?}\n  B -->|yes| C(Answer)\n  B -->|no| D[Search<br/>the web]";
const SEQUENCE =
  "sequenceDiagram\n  participant A as Ada\n  participant S as Server\n  A->>S: GET https://example.org/a\n  S-->>A: 200";
const GANTT = "gantt\n  title Plan\n  section Work\n  Draw :a1, 2026-01-01, 30d\n  Show :after a1, 20d";
/** One diagram of each layout family; some were once rejected because of their labels. */
const KINDS = [
  ...[FLOW, SEQUENCE, GANTT],
  "classDiagram\n  class A{\n    +int x\n  }\n  A <|-- B",
  "stateDiagram-v2\n  [*] --> A\n  A --> B: C:\\\\temp",
  "erDiagram\n  A ||--o{ B : has",
  "mindmap\n  root((m))\n    a\n    b",
  'pie title Parts\n  "a" : 3\n  "b" : 4',
  "journey\n  title Day\n  section Morning\n    Rise: 5: me",
  "timeline\n  2001 : a\n  2002 : b",
  "gitGraph\n  commit\n  branch x\n  commit",
  "sequenceDiagram\n  Client->>Server: data: payload\n  Server-->>Client: ok",
  "%%{init: {'theme': 'forest'}}%%\ngraph TD\n  A --> B\n  style A fill:#f9f,stroke:#333\n  click A \"https://example.org\"",
  "graph LR\n  A[Client] -->|https://api.example.org| B[Server]",
  "---\ntitle: My Title\n---\ngraph TD\n  A --> B",
  "architecture-beta\n  service db(database)[Data]\n  service s(server)[Server]\n  db:L -- R:s",
];

/** A diagram whose layout takes minutes. */
function endless() {
  let seed = 7;
  const node = () => `a${(seed = (seed * 48271) % 2147483647) % 200}`;
  return `stateDiagram-v2\n${Array.from({ length: 900 }, () => `${node()}-->${node()}`).join("\n")}`;
}

/** A complete one-pixel image. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAP8AAP8AACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

let browser, glasshouse, model, page, site;
const asked = [];

test.beforeAll(async () => {
  let failures = 1;
  site = createServer((request, response) => {
    asked.push({ url: request.url, ...request.headers });
    if (request.url === "/late.gif" && failures-- > 0) return response.writeHead(503).end();
    if (request.url === "/page.gif") return response.end("<script>alert(1)</script>");
    return response.setHeader("set-cookie", "tracked=yes").end(GIF);
  });
  await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${site.address().port}`;
  const images = ["red", "late", "page"].map((name) => `![${name}](${at}/${name}.gif)`).join("\n\n");
  const cases = [
    { contains: "Every kind", turns: [turn(text(KINDS.map(fence).join("\n\n")))] },
    { contains: "For ever", turns: [turn(text(`${fence(endless())}\n\n${fence("graph TD; After-->It")}`))] },
    { contains: "Wrong", turns: [turn(text(fence("graph TD\n  A --> ((")))] },
    { contains: "Images", turns: [turn(text(images))] },
    { turns: [turn(text(`How an answer comes about:\n\n${fence(FLOW)}\n\nAnd:\n\n${fence(SEQUENCE)}`))] },
  ];
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(cases),
    startGlasshouse({ GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.0/8" }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
  site?.close();
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/diagrams-${name}.png` });
}

async function say(words) {
  await page.goto("/");
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor({ timeout: 60_000 });
}

const blocks = () => page.locator("article.assistant").last().locator(".md-code");
const diagram = (at = 0) => blocks().nth(at).getByRole("img", { name: "Diagram" });

/** The content of an image, decoded from its URL. */
const drawn = async (image) => {
  await image.waitFor();
  await image.evaluate((shown) => shown.decode());
  return decodeURIComponent(await image.getAttribute("src"));
};

async function setTheme(theme) {
  await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
}

test("a diagram is an image in the colours of the page, and its source can be copied", async () => {
  await say("How?");
  const light = await drawn(diagram());
  assert.match(light, /Question/);
  await drawn(diagram(1));
  await picture("light");
  await check(page, "a chat with diagrams");
  await setTheme("dark");
  await until("it has the other colours", async () => (await drawn(diagram())) !== light);
  // Parts that inherit the text colour, such as the lines of a chart, are visible. Diagrams are rendered one at a time.
  await until("the second one has them too", async () =>
    /color: rgb\(232, 234, 238\)/.test(await drawn(diagram(1))),
  );
  // Edge labels have the page's background, so that the line does not run through them.
  assert.match(await drawn(diagram()), /\.edgeLabel rect\s*\{\s*opacity:\s*1;?\s*\}/);
  await picture("dark");
  await check(page, "a chat with diagrams, dark");
  await setTheme("light");
  await until("it has its colours again", async () => (await drawn(diagram())) === light);
  const copied = await copiedBy(blocks().first().getByRole("button", { name: "Copy" }));
  assert.equal(copied.trim(), FLOW);
});

test("a diagram opens large, by mouse and keys, and closes", async () => {
  const open = blocks().first().getByRole("button", { name: "Enlarge Diagram" });
  const large = page.getByRole("dialog", { name: "Diagram" });
  const image = large.getByRole("img");
  const widthOf = () => image.evaluate((shown) => shown.getBoundingClientRect().width);
  const small = await diagram().evaluate((shown) => shown.getBoundingClientRect().width);
  await open.click();
  await until("it is larger", async () => (await widthOf()) > small * 1.2);
  await picture("large");
  await check(page, "a large diagram");
  const fitted = await widthOf();
  await page.keyboard.press("+");
  await until("it is larger still", async () => (await widthOf()) > fitted);
  await page.keyboard.press("0");
  await until("it fits again", async () => (await widthOf()) === fitted);
  await page.keyboard.press("Escape");
  await large.waitFor({ state: "detached" });
  await open.and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Enter");
  await image.click();
  await large.waitFor({ state: "detached" });
});

test("on a phone it is as wide as the text, and the frame that draws it takes no room", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await diagram(1).scrollIntoViewIfNeeded();
  await picture("phone");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(wide, 390);
  const [box, text] = [await diagram(1).boundingBox(), await blocks().first().boundingBox()];
  assert.ok(box.x >= text.x && box.x + box.width <= text.x + text.width, JSON.stringify({ box, text }));
  const frame = page.locator("iframe");
  assert.equal(await frame.getAttribute("sandbox"), "allow-scripts");
  assert.equal(await frame.evaluate((frame) => frame.matches("[aria-hidden=true][tabindex='-1']")), true);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test("every kind of diagram is drawn", async () => {
  await say("Every kind");
  assert.equal(await blocks().count(), KINDS.length);
  for (const [at, source] of KINDS.entries()) {
    const block = blocks().nth(at);
    // While diagrams become taller, the end stays in view: a single scroll can be undone in the same frame.
    await until(`this is drawn: ${source}`, async () => {
      await block.scrollIntoViewIfNeeded();
      return block.locator(".md-diagram:not([hidden]), .md-note").first().isVisible();
    });
    assert.equal(await block.locator(".md-note").count(), 0, source);
    const image = block.getByRole("img");
    await drawn(image);
    const size = await image.evaluate(({ naturalWidth, naturalHeight }) => naturalWidth * naturalHeight);
    assert.ok(size > 1000, source);
    if (source.includes("My Title")) assert.match(await drawn(image), /My Title/);
  }
  await picture("kinds");
});

test("what is no diagram is shown as it was written, with a note", async () => {
  await say("Wrong");
  await page.getByText("Couldn’t draw this diagram").waitFor();
  assert.match(await blocks().first().locator("pre").innerText(), /A --> \(\(/);
});

test("a layout without end is given up, the page works meanwhile, and the next one is drawn", async () => {
  await page.goto("/");
  // The longest pause between two ticks of the page, from before the drawing begins.
  await page.evaluate(() => {
    let last = performance.now();
    globalThis.longestPause = 0;
    setInterval(() => {
      const now = performance.now();
      globalThis.longestPause = Math.max(globalThis.longestPause, now - last);
      last = now;
    }, 100);
  });
  await page.getByRole("textbox", { name: "Message" }).fill("For ever");
  await page.keyboard.press("Enter");
  await page.getByText("This diagram takes too long to draw").waitFor();
  // A page that shares the thread of the drawing pauses until the time limit of ten seconds.
  const pause = await page.evaluate(() => globalThis.longestPause);
  assert.ok(pause > 0 && pause < 5000, `the page paused for ${pause} ms`);
  assert.match(await blocks().first().locator("pre").textContent(), /stateDiagram-v2/);
  await picture("slow");
  assert.match(await drawn(blocks().nth(1).getByRole("img")), /After/);
});

test("an image of another site comes by way of the server, when a person clicks on it", async () => {
  await say("Images");
  const host = `127.0.0.1:${site.address().port}`;
  const button = (name) => page.getByRole("button", { name: `${name} · Load image from ${host}` });
  await button("red").waitFor();
  await picture("image-before");
  assert.deepEqual(asked, []);
  await button("red").press("Enter");
  const image = page.getByRole("img", { name: "red" });
  await image.waitFor();
  assert.match(await image.getAttribute("src"), /^blob:/);
  assert.equal(await image.evaluate((shown) => shown.naturalWidth), 1);
  assert.equal(asked.length, 1);
  const [{ url, referer, cookie, "user-agent": agent }] = asked;
  assert.deepEqual([url, referer, cookie], ["/red.gif", undefined, undefined]);
  assert.match(agent, /^glasshouse\//);

  await button("late").press("Enter");
  const failed = page.getByRole("button", { name: `late · Couldn’t load the image from ${host}. ` });
  await failed.waitFor();
  assert.match(await failed.innerText(), /HTTP 503/);
  await failed.press("Enter");
  await page.getByRole("img", { name: "late" }).waitFor();
  await button("page").press("Enter");
  await page.getByRole("button", { name: `page · Couldn’t load the image from ${host}` }).waitFor();
  await picture("image-after");
  assert.ok(asked.every(({ cookie, referer }) => cookie === undefined && referer === undefined));
});

test("in Russian", async () => {
  const preferences = { language: "ru" };
  const russian = await openPage(browser, { url: glasshouse.url, preferences, locale: "ru-RU" });
  await russian.context().addCookies(await page.context().cookies());
  await russian.goto(page.url());
  await russian.getByRole("button", { name: /red · Загрузить изображение с/ }).waitFor();
  await russian.context().close();
});

test("the browser has no complaints of the page's own making", () => {
  // The browser also logs rejected requests to the console.
  const complaints = page.complaints.filter((complaint) => !/status of (422|404)/.test(complaint));
  assert.deepEqual(complaints, []);
});
