/**
 * The user's own data with the real program: exported to a file, imported on another server, and chats from Open WebUI.
 */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { strToU8, zipSync } from "fflate";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, first, second, folder, file;

test.beforeAll(async () => {
  [browser, first, second, folder] = await Promise.all([
    launch(),
    startGlasshouse(),
    startGlasshouse(),
    mkdtemp(join(tmpdir(), "glasshouse-data-")),
  ]);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([first?.stop(), second?.stop(), folder && rm(folder, { recursive: true })]);
});

/** A page of the first administrator of this server. */
async function pageOf(glasshouse, options = {}) {
  const page = await openPage(browser, { url: glasshouse.url, ...options });
  await setUp(page);
  return page;
}

async function picture(page, name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/data-${name}.png`, fullPage: true });
}

const openWebUi = [
  {
    id: "c1",
    title: "Bread without kneading",
    created_at: 1700000000,
    updated_at: 1700000100,
    chat: {
      models: ["llama3"],
      history: {
        currentId: "a1",
        messages: {
          u1: {
            id: "u1",
            parentId: null,
            childrenIds: ["a1"],
            role: "user",
            content: "How long?",
            timestamp: 1700000001,
          },
          a1: {
            id: "a1",
            parentId: "u1",
            childrenIds: [],
            role: "assistant",
            content:
              '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n> Overnight is usual.\n</details>\nAbout **twelve** hours.',
            model: "llama3",
            timestamp: 1700000002,
          },
        },
      },
    },
  },
  { id: "c2", title: "Broken", chat: 7 },
];

test("all of it is a file that is downloaded", async () => {
  const page = await pageOf(first);
  const headers = { origin: first.url };
  const chat = await (
    await page.request.post(`${first.url}/api/v1/chats`, { data: { title: "Plans for the garden" }, headers })
  ).json();
  await page.request.put(`${first.url}/api/v1/chats/${chat.id}/files/content?path=/plan.md`, {
    data: "# Beds",
    headers,
  });
  const memory = { name: "style", text: "Short." };
  await page.request.post(`${first.url}/api/v1/memories`, { data: memory, headers });
  await page.request.post(`${first.url}/api/v1/keys`, { data: { name: "laptop" }, headers });
  await page.goto("/settings/data");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download my data" }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^glasshouse-\d{4}-\d\d-\d\d\.jsonl$/);
  file = join(folder, "export.jsonl");
  await download.saveAs(file);
  const text = await readFile(file, "utf8");
  assert.ok(text.includes("Plans for the garden") && text.trimEnd().endsWith("}}"), text);
});

test("another server takes it, once, and says what it left", async () => {
  const page = await pageOf(second, { preferences: { theme: "light", language: "en" } });
  await page.goto("/settings/data");
  // By keyboard: the button opens the browser's file chooser.
  const button = page.getByRole("button", { name: "Choose file" });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.press("Enter")]);
  await chooser.setFiles(file);
  await page.getByText("Imported", { exact: true }).waitFor();
  await page.getByText("1 chat", { exact: true }).waitFor();
  await page.getByText("Keys are not transferred").waitFor();
  await check(page, "the report of an import");
  await picture(page, "light");

  const [again] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  await again.setFiles(file);
  await page.getByText("Nothing new to import.").waitFor();
  await page.goto("/");
  await page.getByRole("link", { name: "Plans for the garden" }).first().waitFor();
});

test("chats of Open WebUI are dropped, on a phone too", async () => {
  const page = await openPage(browser, {
    url: second.url,
    preferences: { theme: "dark", language: "ru" },
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  await page.goto("/login?next=/settings/data");
  await page.getByLabel("Эл. почта").fill("ada@example.org");
  await page.getByLabel("Пароль").fill("correct horse");
  await page.keyboard.press("Enter");
  const place = page.locator("main .place");
  await place.waitFor();
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "chat-export.json", { type: "application/json" }));
    return transfer;
  }, JSON.stringify(openWebUi));
  await place.dispatchEvent("dragover", { dataTransfer: data });
  await place.dispatchEvent("drop", { dataTransfer: data });
  await page.getByText("Импортировано", { exact: true }).waitFor();
  await page.getByText("Пропущено", { exact: true }).waitFor();
  await check(page, "the report on a phone");
  await page.getByText("Пропущено", { exact: true }).scrollIntoViewIfNeeded();
  await picture(page, "phone-dark");
  const listed = await (await page.request.get(`${second.url}/api/v1/chats?query=bread`)).json();
  await page.goto(`/c/${listed.chats[0].id}`);
  await page.getByText("twelve").waitFor();
  await picture(page, "chat-phone");
});

test("the ZIP of ChatGPT is chosen as it came", async () => {
  const page = await openPage(browser, { url: second.url, preferences: { theme: "light", language: "en" } });
  await page.goto("/login?next=/settings/data");
  await page.getByLabel("Email").fill("ada@example.org");
  await page.getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  const text = (role, words) => ({
    author: { role },
    create_time: 1_756_000_000,
    content: { content_type: "text", parts: [words] },
    metadata: role === "user" ? { attachments: [{ id: "file-Ab1", name: "dough.txt" }] } : {},
  });
  const mapping = {
    q: { parent: null, children: ["a"], message: text("user", "How long does sourdough rise?") },
    a: { parent: "q", children: [], message: text("assistant", "Overnight, in the cool.") },
  };
  const chat = { title: "Sourdough", conversation_id: "c", current_node: "a", mapping };
  const buffer = zipSync({
    "conversations.json": strToU8(JSON.stringify([chat])),
    "file-Ab1-dough.txt": strToU8("Flour, water, salt."),
    "user.json": strToU8(JSON.stringify({ email: "ada@example.org" })),
  });
  const button = page.getByRole("button", { name: "Choose file" });
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), button.click()]);
  assert.match(await page.locator("main .place input").getAttribute("accept"), /\.zip/);
  await chooser.setFiles({ name: "export.zip", mimeType: "application/zip", buffer: Buffer.from(buffer) });
  await page.getByText("1 chat", { exact: true }).waitFor();
  await page.getByText("1 file", { exact: true }).waitFor();
  const { chats } = await (await page.request.get(`${second.url}/api/v1/chats`)).json();
  await page.goto(`/c/${chats.find(({ title }) => title === "Sourdough").id}`);
  await page.getByText("Overnight, in the cool.").waitFor();
  await page.getByText("dough.txt").first().waitFor();
});

test("what is no such file is refused in words", async () => {
  const page = await openPage(browser, { url: second.url, preferences: { theme: "dark", language: "en" } });
  await page.goto("/login?next=/settings/data");
  await page.getByLabel("Email").fill("ada@example.org");
  await page.getByLabel("Password").fill("correct horse");
  await page.keyboard.press("Enter");
  const wrong = join(folder, "wrong.zip");
  await writeFile(wrong, "PK\u0003\u0004");
  await page.getByLabel("Choose file").last().setInputFiles(wrong);
  await page.getByText("This ZIP file is damaged or incomplete.").first().waitFor();
  await picture(page, "dark");
});
