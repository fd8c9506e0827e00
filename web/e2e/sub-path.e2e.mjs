/**
 * Two servers below paths of one host, behind a real nginx that keeps the path of one and strips that of the other.
 * Nothing is asked for outside of the paths, and neither server knows what the other one stored.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { startNginx } from "./nginx.mjs";
import { ada, bob, connectModel, setUp } from "./people.mjs";
import { freePort, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const ANSWER = [
  "It costs **400 euros** [1].",
  "",
  "```mermaid",
  "graph TD",
  "  A[Question] --> B[Answer]",
  "```",
  "",
  "$$\\frac{a}{b}$$",
  "",
  "See [your keys](/settings/keys).",
].join("\n");
const CASES = [
  { contains: "cost", turns: [turn(text(ANSWER))] },
  { contains: "", turns: [turn(text("Well."))] },
];
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const servers = [
  { path: "/ai", strips: false },
  { path: "/ai2", strips: true },
];
let browser, model, nginx;

test.beforeAll(async () => {
  [browser, model] = await Promise.all([launch(), startModel(CASES)]);
  const port = await freePort();
  for (const server of servers) {
    server.port = await freePort();
    server.url = `http://localhost:${port}${server.path}`;
    server.glasshouse = await startGlasshouse({ GLASSHOUSE_PUBLIC_URL: server.url }, server.port);
  }
  nginx = await startNginx(port, servers);
  servers[0].page = await open(servers[0]);
});
test.afterAll(async () => {
  await browser?.close();
  await nginx?.stop();
  for (const { glasshouse } of servers) await glasshouse?.stop();
  await model?.stop();
});

/** A page of a new browser, or of that of `beside`, that notes what it asks for outside of its path. */
async function open({ path, url }, beside) {
  const page = beside
    ? await beside.context().newPage()
    : await openPage(browser, { url: `${url}/`, permissions: ["clipboard-read", "clipboard-write"] });
  page.complaints ??= [];
  page.on("request", (request) => {
    const asked = new URL(request.url());
    const isOurs = asked.origin === new URL(url).origin && `${asked.pathname}/`.startsWith(`${path}/`);
    if (/^https?:$/.test(asked.protocol) && !isOurs) page.complaints.push(`asked for ${asked}`);
  });
  return page;
}

const pathOf = (page) => new URL(page.url()).pathname;
const own = (page, path) => page.evaluate((path) => fetch(path).then(({ status }) => status), path);
const message = (page) => page.getByLabel("Message", { exact: true });
const attach = (page, ...files) => page.locator(".composer input[type=file]").setInputFiles(files);

async function logIn(page, { email, password }) {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}

for (const [number, server] of servers.entries()) {
  const { path, strips } = server;
  let page, chat;
  const name = `${path}, which nginx ${strips ? "strips" : "keeps"}:`;

  test(`${name} the printed link leads to the first account`, async () => {
    // The second server's first page is opened by the person who is signed in at the first.
    page = number === 0 ? server.page : await open(server, servers[0].page);
    server.page = page;
    // The programs' first line has the link.
    const link = server.glasshouse.url;
    assert.ok(link.startsWith(`${server.url}/setup?token=`), link);
    await page.goto(`${server.url}/`);
    await page.waitForURL(`${server.url}/setup`);
    await setUp(page, number === 0 ? ada : bob, link);
    assert.equal(pathOf(page), `${path}/welcome`);
    await connectModel(page, model);
    await message(page).waitFor();
    assert.equal(pathOf(page), `${path}/`);
    await check(page, "an empty chat");
  });

  test(`${name} an answer with a file, a picture and a diagram, also after a reload`, async () => {
    await attach(
      page,
      { name: "walrus.md", mimeType: "text/markdown", buffer: Buffer.from("It costs 400 euros a year.\n") },
      { name: "dot.png", mimeType: "image/png", buffer: PNG },
    );
    await page.getByRole("list", { name: "Attachments" }).getByText("walrus.md").waitFor();
    await message(page).fill("What does it cost?");
    await page.getByRole("button", { name: "Send", exact: true }).and(page.locator(":enabled")).click();
    await page.getByText("400 euros", { exact: true }).waitFor();
    await page.waitForURL(`${server.url}/c/*`);
    chat = page.url();
    await page.reload();
    await page.getByText("400 euros", { exact: true }).waitFor();
    assert.equal(page.url(), chat);
    await page.locator(".md-open img, .md img[src^='data:image/svg']").first().waitFor();
    await page.locator(".katex").first().waitFor();
    const keys = page.getByRole("link", { name: "your keys" });
    assert.equal(await keys.getAttribute("href"), `${path}/settings/keys`);
    const sent = page.getByRole("link", { name: "walrus.md" }).first();
    const [opened] = await Promise.all([
      page.context().waitForEvent("page"),
      sent.click({ modifiers: ["Control"] }),
    ]);
    await opened.getByText("It costs 400 euros a year.").waitFor();
    assert.ok(pathOf(opened).startsWith(`${path}/knowledge/`), opened.url());
    await opened.close();
  });

  test(`${name} pages, documentation, downloads and addresses to copy`, async () => {
    await page.locator(".user-button").click();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await page.waitForURL(`${server.url}/settings**`);
    await page.goto(`${server.url}/settings/keys`);
    await page.getByText(`${server.url}/v1`, { exact: true }).waitFor();
    const api = page.getByRole("link", { name: /OpenAPI/ });
    assert.equal(await api.getAttribute("href"), `${path}/openapi.json`);
    assert.equal(await own(page, `${path}/openapi.json`), 200);
    assert.equal(await own(page, `${path}/api/v1/me/export`), 200);
    await page.goto(`${server.url}/help`);
    await page.getByRole("link", { name: "Groups and permissions" }).first().click();
    await page.getByRole("heading", { name: "Groups and permissions", exact: true }).waitFor();
    assert.ok(pathOf(page).startsWith(`${path}/help/`), page.url());
    await page.reload();
    await page.getByRole("heading", { name: "Groups and permissions", exact: true }).waitFor();
    await page.goto(`${server.url}/knowledge`);
    await page.getByRole("heading", { name: "Knowledge", exact: true }).first().waitFor();
    // Without the slash, nginx sends people to the address with it.
    await page.goto(server.url);
    await message(page).waitFor();
  });

  test(`${name} it can be installed, and its worker is for its path`, async () => {
    const devtools = await page.context().newCDPSession(page);
    const { url, errors, data } = await devtools.send("Page.getAppManifest");
    assert.deepEqual([url, errors], [`${server.url}/manifest.webmanifest`, []]);
    for (const { src } of JSON.parse(data).icons)
      assert.equal(await own(page, new URL(src, url).pathname), 200, src);
    assert.equal((await devtools.send("Page.getAppId")).appId, `${server.url}/`);
    const scope = await page.evaluate(
      (file) => navigator.serviceWorker.register(file).then(({ scope }) => scope),
      `${path}/push-worker.js`,
    );
    assert.equal(scope, `${server.url}/`);
  });

  test(`${name} a shared link leads through the sign-in`, async () => {
    const person = { name: "Eve Example", email: "eve@example.org", password: "open sesame 1" };
    const made = await page.request.post(`${server.url}/api/v1/users`, {
      data: { ...person, role: "user" },
      headers: { origin: nginx.url },
    });
    assert.ok(made.ok(), await made.text());
    await page.goto(chat);
    await page.getByRole("button", { name: "Share chat" }).click();
    await page.getByRole("switch", { name: "Anyone on this server with the link" }).click();
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied", { exact: true }).first().waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(link, chat);
    await page.keyboard.press("Escape");
    const other = await open(server);
    await other.goto(link);
    await other.waitForURL(`${server.url}/login?next=*`);
    await logIn(other, person);
    await other.getByText("400 euros", { exact: true }).waitFor();
    assert.equal(other.url(), chat);
    assert.deepEqual(other.complaints, []);
    await other.context().close();
  });
}

test("cookies and stored settings are of one server each", async () => {
  const [{ page: first }, { page: second }] = servers;
  const cookies = await first.context().cookies();
  const sessions = cookies.filter(({ name }) => name === "glasshouse_session");
  assert.deepEqual(sessions.map(({ path }) => path).sort(), ["/ai", "/ai2"]);
  const names = () => first.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("/")));
  await first.goto(`${servers[0].url}/settings/general`);
  await first.getByRole("radio", { name: "Dark" }).check({ force: true });
  await until("it is dark", () => first.evaluate(() => document.documentElement.dataset.theme === "dark"));
  await second.reload();
  await message(second).waitFor();
  assert.equal(await second.evaluate(() => document.documentElement.dataset.theme), "light");
  await first.reload();
  assert.equal(await first.evaluate(() => document.documentElement.dataset.theme), "dark");
  assert.ok((await names()).includes("glasshouse/ai.preferences"));
});

test("who signs out of one is still signed in at the other", async () => {
  const [{ page: first, url }, { page: second }] = servers;
  await first.goto(`${url}/`);
  await first.locator(".user-button").click();
  await first
    .getByRole("button", { name: "Log out" })
    .or(first.getByRole("menuitem", { name: "Log out" }))
    .click();
  await first.waitForURL(`${url}/login`);
  await second.reload();
  await message(second).waitFor();
  await logIn(first, ada);
  await first.waitForURL(`${url}/`);
  await message(first).waitFor();
});

test("nothing complained, and nothing was asked for elsewhere", () => {
  for (const { page } of servers) assert.deepEqual(page.complaints, []);
});
