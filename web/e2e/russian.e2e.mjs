/**
 * Server messages on a page in Russian: a notice and the error of a run, why a file and a web page could not be read,
 * what is wrong with a tested model, and why tools, programs and skills cannot be used. Third-party messages are not
 * translated.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold } from "./browser.mjs";
import { startEmbedder } from "./embedder.mjs";
import { setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  // The instruction for a model's last step.
  { contains: "You have reached a limit", turns: [turn(text("Всё, что есть."))] },
  { contains: "Считай", turns: [turn(calls(["ls", { path: "/" }]))] },
  { contains: "", turns: [{ status: 400, headers: {}, body: "not today" }] },
];

async function startWeb() {
  const server = createServer((request, response) => {
    const pages = {
      "/robots.txt": [200, "text/plain", "User-agent: *\nDisallow: /secret"],
      "/film": [200, "video/mp4", "frames"],
    };
    const [status, type, body] = pages[request.url] ?? [404, "text/plain", "none"];
    response.writeHead(status, { "content-type": type });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A configuration file with unusable MCP servers, and an invalid skill. */
async function configure(folder, web) {
  const skill = join(folder, "skills", "letters");
  await mkdir(skill, { recursive: true });
  await writeFile(join(skill, "SKILL.md"), "Dear Sir");
  const file = join(folder, "glasshouse.toml");
  const servers = [
    ["gone", 'command = "no-such-program"'],
    ["closed", `url = "${web.url}/mcp"`],
    ["mail", `url = "${web.url}/mail"\nsign_in = "oauth"`],
  ].map(([name, way]) => `[[mcp_servers]]\nname = "${name}"\n${way}\n`);
  await writeFile(file, `[skills]\nfolder = "${join(folder, "skills")}"\n${servers.join("")}`);
  return file;
}

let browser, embedder, folder, glasshouse, model, page, web;

test.beforeAll(async () => {
  [folder, web] = await Promise.all([mkdtemp(join(tmpdir(), "glasshouse-russian-")), startWeb()]);
  const config = await configure(folder, web);
  [browser, embedder, model, glasshouse] = await Promise.all([
    launch(),
    startEmbedder({ "chat-7b": 0 }),
    startModel(CASES),
    startGlasshouse({
      GLASSHOUSE_CONFIG: config,
      GLASSHOUSE_PROGRAMS_ENABLED: "false",
      GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.1/32",
      GLASSHOUSE_WEB_PAUSE_MS: "0",
      GLASSHOUSE_LIMITS_STEPS: "2",
    }),
  ]);
  const first = await openPage(browser, { url: glasshouse.url });
  await setUp(first);
  for (const [name, base_url] of [
    ["Chats", model.url],
    ["Vectors", embedder.url],
  ]) {
    const made = await first.request.post("/api/v1/connections", { data: { name, base_url } });
    assert.ok(made.ok(), await made.text());
  }
  const storageState = await first.context().storageState();
  // Reset the saved language.
  for (const origin of storageState.origins) origin.localStorage = [];
  page = await openPage(browser, { url: glasshouse.url, preferences: { language: "ru" }, storageState });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await Promise.all([embedder?.stop(), model?.stop(), web?.stop()]);
  if (folder) await rm(folder, { recursive: true });
});

async function pictures(name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  await page.screenshot({ path: `${folder}/russian-${name}.png`, fullPage: true });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${folder}/russian-${name}-phone-dark.png`, fullPage: true });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

async function say(words) {
  await page.goto("/");
  await page.getByRole("button", { name: "scripted" }).waitFor();
  await page.locator("#composer").fill(words);
  await page.keyboard.press("Enter");
}

test("a run says why it failed, with the model server's own words in quotes", async () => {
  await say("Привет");
  await page.getByText("Сервер модели отклонил запрос (400). Его ответ: «not today»").first().waitFor();
  await pictures("failed");
  await check(page, "a failed answer in Russian");
});

test("so do notices, and what ends a run at a limit", async () => {
  await say("Считай");
  await page.getByText("Всё, что есть.").waitFor();
  const limit = "Агент сделал 2 шага — это его предел. Он заканчивает с тем, что есть.";
  await unfold(page.locator("[data-steps-toggle]"));
  await page.getByText(limit).nth(1).waitFor();
  await pictures("limited");
  const log = await page.locator("main").innerText();
  assert.ok(!/limit|steps|agent/i.test(log), log);
});

test("a file and a page of the web say why they could not be read", async () => {
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Море" } });
  const { id } = await made.json();
  const put = await page.request.post(`/api/v1/knowledge/${id}/documents?name=a.pdf`, {
    data: Buffer.from("%PDF-1.7 broken"),
  });
  assert.ok(put.ok(), await put.text());
  await page.goto(`/knowledge/${id}`);
  await page.getByText("Файл повреждён или неполон, его нельзя прочитать как PDF.").waitFor();
  const address = page.getByLabel("Адрес страницы или сайта");
  const add = page.getByRole("button", { name: "Добавить из интернета" });
  for (const [path, count] of [
    ["/nothing", 1],
    ["/secret", 2],
    ["/film", 3],
  ]) {
    await address.fill(`${web.url}${path}`);
    await add.click();
    await page
      .getByText("1 не прочитана")
      .nth(count - 1)
      .waitFor();
  }
  // The result of a single page is shown without expanding.
  await page.getByText("По этому адресу нет страницы (HTTP 404).").waitFor();
  await page.getByText(/^.*robots\.txt сайта просит программы не читать эту страницу/).waitFor();
  await page.getByText("По этому адресу не текст, а звук или видео: прочитать это нельзя.").waitFor();
  await pictures("documents");
  await check(page, "what could not be read, in Russian");
  await address.fill("http://127.0.0.2/");
  await add.click();
  await page.getByText(/^Адрес ведёт на эту машину, в частную сеть/).waitFor();
  await pictures("refused");
});

test("a model that is tried says what is wrong with it", async () => {
  await page.goto("/settings/knowledge");
  await page.getByLabel("Модель", { exact: true }).selectOption({ label: "chat-7b" });
  await page.getByRole("button", { name: "Проверить" }).click();
  await page.getByText("Сервер модели отклонил запрос (400). Его ответ: «chat-7b does not embed.»").waitFor();
  await pictures("embedding");
  await check(page, "an embedding model that does not work, in Russian");
});

test("what cannot be used says why", async () => {
  await page.goto("/settings/tools");
  await page.getByText("Они выключены в настройках сервера.").waitFor();
  await page.getByText(/^Программу no-such-program не удалось запустить: /).waitFor();
  await page.getByText("Сервером нельзя пользоваться: HTTP 404 Not Found: none.").waitFor();
  await pictures("tools");
  await check(page, "tools that cannot be used, in Russian");
  await page.goto("/settings/sign-ins");
  await page.getByRole("button", { name: /mail/ }).click();
  await page
    .getByText("Войти на «mail» сейчас нельзя. Тот, через кого на него входят, не хочет нас знать: HTTP 404.")
    .waitFor();
  await pictures("sign-ins");
  await check(page, "a sign-in that fails, in Russian");
  await page.goto("/settings/agents");
  await page.getByText(/^SKILL\.md должен начинаться со строки «---»/).waitFor();
  await pictures("skills");
});
