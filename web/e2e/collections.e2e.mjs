/**
 * Document collections with the fake server: created, filled with files and folders, searched, read at a passage,
 * shared.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { Refusal } from "./fake/refusal.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser;
let server;
let page;
let knowledge;

test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(async () => {
  await browser.close();
});

test.beforeEach(async () => {
  server = await new FakeServer({ pace: 0.2, account: true, model: true }).listen();
  ({ knowledge } = server);
  page = await openPage(browser, { url: server.url });
});
test.afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.close();
});

const own = (content) => knowledge.add(server.user.id, content);
const put = (collection, name, text) => knowledge.put(collection, name, Buffer.from(text));
const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
const button = (name) => page.getByRole("button", { name });
const link = (name) => page.getByRole("link", { name, exact: true });
const row = (name) => page.locator(".rows > li", { has: link(name) });
const chooser = (name) => page.getByLabel(name).and(page.locator("input"));
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/collections-${name}.png` });
}

test("a collection is made, changed and deleted, by keyboard", async () => {
  await page.goto("/");
  await link("Knowledge").press("Enter");
  await page.getByText("No collections yet").waitFor();
  await button("New collection").press("Enter");
  await page.getByLabel("Name").fill("Handbook");
  await page.getByLabel("Name").press("Enter");
  await page.getByRole("heading", { name: "Handbook" }).waitFor();
  await page.getByText("No documents yet").waitFor();

  await button("Actions for “Handbook”").press("Enter");
  await page.getByRole("menuitem", { name: "Edit" }).press("Enter");
  await page.getByLabel("Name").fill("House rules");
  await page.getByLabel("Description").fill("How we work.");
  await page.getByRole("switch").press("Space");
  await button("Save").press("Enter");
  await page.getByRole("heading", { name: "House rules" }).waitFor();
  await page.getByText("Open to everyone").waitFor();
  const [{ name, description, open }] = knowledge.collections;
  assert.deepEqual(
    { name, description, open },
    { name: "House rules", description: "How we work.", open: true },
  );

  await button("Actions for “House rules”").press("Enter");
  await page.getByRole("menuitem", { name: "Delete" }).press("Enter");
  await page.getByText("This permanently deletes").waitFor();
  await button("Delete").press("Enter");
  await page.waitForURL("**/knowledge");
  await page.getByText("No collections yet").waitFor();
});

test("documents say how far their meaning is, and searches what did not help", async () => {
  const collection = own({ name: "Papers" });
  knowledge.rests = true;
  const [plan, notes, done] = ["plan.md", "notes.md", "done.md"].map((name) =>
    put(collection, name, `# ${name}\n\nA walrus costs 400 euros.`),
  );
  knowledge.readAll();
  plan.meaning = { done: 1, chunks: 2, problem: null };
  notes.meaning = { done: 0, chunks: 2, problem: { code: "failed", message: "Out of memory." } };
  done.meaning = { done: 2, chunks: 2, problem: null };
  await page.goto(`/knowledge/${collection.id}`);
  await row("plan.md").getByText("Embedding: 50%").waitFor();
  await row("notes.md").getByText("the embedding model failed").waitFor();
  assert.equal(await row("done.md").getByText("Keyword search only").count(), 0);
  await picture("meanings");
  // The page polls until everything is done.
  plan.meaning = { done: 2, chunks: 2, problem: null };
  await row("plan.md").getByText("Embedding").waitFor({ state: "detached" });

  knowledge.notes = [{ code: "no_rerank", message: "It was silent." }];
  knowledge.second = { meaning: 0.81, rerank: -1.5 };
  await page.getByRole("searchbox", { name: "Search documents" }).fill("walrus");
  await button("Search").click();
  await page.getByText("Results weren’t reranked").waitFor();
  await page
    .getByText(/Relevance/)
    .first()
    .click();
  await page.getByText("Reranker").first().waitFor();
  await page.getByText("-1.5, best here: -1.5").first().waitFor();
  await page.getByText("How close the passage is").first().waitFor();
  await picture("second-look");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark" });
  await picture("second-look-phone-dark");
});

test("files are sent and read, and each says how it stands", async () => {
  const collection = own({ name: "Papers" });
  knowledge.rests = true;
  knowledge.refused = { name: "huge.zip", refusal: new Refusal(413, "too_large", "At most 100 MB.") };
  await page.goto(`/knowledge/${collection.id}`);
  await chooser("Upload files").setInputFiles([
    file("plan.md", "# Plan\n\nFirst.\n\nThen."),
    file("broken.pdf", "%PDF"),
    file("odd.new", "?"),
    file("huge.zip", "PK"),
    file("empty.txt", ""),
  ]);
  await page.getByText("2 files failed to upload").waitFor();
  await page.getByText("At most 100 MB.").waitFor();
  await page.getByText("The file is empty.").waitFor();
  await page.getByText("3 files uploaded").waitFor();
  await row("plan.md").getByText("Queued").waitFor();
  await picture("waiting");
  knowledge.readAll();
  await row("plan.md").getByText("3 passages").waitFor();
  await row("broken.pdf").getByText("can’t be read as PDF").waitFor();
  // An error code unknown to the page is shown with the server's message.
  await row("odd.new").getByText("Something new is wrong with it.").waitFor();
  await picture("read");
  const complaints = page.complaints.splice(0);
  assert.ok(
    complaints.every((text) => /status of 4(13|00)/.test(text)),
    complaints.join("\n"),
  );

  knowledge.refused = null;
  await button("Retry upload").click();
  await row("huge.zip").waitFor();
  await page.getByText("1 file failed to upload").waitFor();
  await button("Hide").click();
  page.complaints.splice(0);

  await button("Reprocess “broken.pdf”").click();
  await row("broken.pdf").getByText("can’t be read as PDF").waitFor();
  await button("Delete “broken.pdf”").click();
  await button("Delete").last().click();
  await row("broken.pdf").waitFor({ state: "detached" });
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download “plan.md”" }).click();
  const saved = await (await download).path();
  assert.equal(await readFile(saved, "utf8"), "# Plan\n\nFirst.\n\nThen.");
});

test("it is asked again only while something waits", async () => {
  const collection = own({ name: "Papers" });
  knowledge.rests = true;
  put(collection, "plan.md", "One.");
  let asked = 0;
  page.on("request", (request) => (asked += request.url().endsWith("/documents") ? 1 : 0));
  const answered = () => page.waitForResponse((response) => response.url().endsWith("/documents"));
  await page.goto(`/knowledge/${collection.id}`);
  await answered();
  await answered();
  knowledge.readAll();
  await row("plan.md").getByText("1 passage").waitFor();
  const before = asked;
  // Longer than the polling interval at that point.
  await page.waitForTimeout(4000);
  assert.equal(asked, before);
});

test("a folder comes as it is, but what is hidden", async () => {
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-folder-"));
  try {
    await mkdir(join(folder, "a"));
    await mkdir(join(folder, ".git"));
    for (const path of ["README.md", "a/README.md", ".git/config"]) await writeFile(join(folder, path), path);
    const collection = own({ name: "Papers" });
    await page.goto(`/knowledge/${collection.id}`);
    await chooser("Upload folder").setInputFiles(folder);
    await row("a › README.md").getByText("1 passage").waitFor();
    await row("README.md").waitFor();
    await page.getByText("1 hidden file skipped.").waitFor();
    assert.equal(collection.documents.length, 2);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a document is replaced only by whoever says so", async () => {
  const collection = own({ name: "Papers" });
  put(collection, "plan.md", "As it was.");
  await page.goto(`/knowledge/${collection.id}`);
  await row("plan.md").waitFor();
  const question = page.getByRole("dialog", { name: "Replace" });
  const send = () =>
    chooser("Upload files").setInputFiles([file("plan.md", "Changed."), file("new.md", "New.")]);
  await send();
  await question.getByText("A document named “plan.md” already exists.").waitFor();
  await page.keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  assert.equal(collection.documents.length, 1);
  await send();
  await question.getByRole("button", { name: "Replace" }).click();
  await page.getByText("2 files uploaded").waitFor();
  await row("new.md").waitFor();
  assert.equal(collection.documents.length, 2);
});

test("files are dropped", async () => {
  const collection = own({ name: "Papers" });
  await page.goto(`/knowledge/${collection.id}`);
  const place = page.locator("main .place");
  await place.waitFor();
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    for (const name of ["one.md", "two.md"]) transfer.items.add(new File([name], name));
    return transfer;
  });
  await place.dispatchEvent("dragover", { dataTransfer: data });
  await page.locator("main .place.over").waitFor();
  await place.dispatchEvent("drop", { dataTransfer: data });
  await row("two.md").getByText("1 passage").waitFor();
  await page.getByText("2 files uploaded").waitFor();
});

test("sending can be stopped", async () => {
  const collection = own({ name: "Papers" });
  await page.route("**/documents?name=*", () => {});
  await page.goto(`/knowledge/${collection.id}`);
  await chooser("Upload files").setInputFiles([1, 2, 3, 4, 5].map((n) => file(`${n}.md`, "text")));
  await page.getByText("Uploaded 0 of 5").waitFor();
  assert.equal(await page.getByRole("progressbar").count(), 3);
  await picture("sending");
  await button("Cancel upload").click();
  await page.getByText("Uploaded 0 of 5").waitFor({ state: "detached" });
  assert.equal(await page.getByText("failed to upload").count(), 0);
  assert.equal(collection.documents.length, 0);
});

const filler = "Plain words fill this part 😀.\n\n".repeat(200);
const handbook = `\fWelcome ✨\n\n# Holidays\n\n${filler}### Carried over\n\nFive holidays may be carried over to March.\n\n\f${filler}## Sickness\n\nCall before nine.`;

test("a passage is found, explained and opened where it stands", async () => {
  const collection = own({ name: "Handbook" });
  const other = own({ name: "Recipes" });
  put(collection, "handbook.md", handbook);
  put(other, "bread.md", "Holidays are for bread.");
  knowledge.readAll();
  await page.goto("/knowledge");
  await page.getByRole("main").getByRole("searchbox").fill("holiday carries over");
  await page.getByRole("main").getByRole("searchbox").press("Enter");
  await page.locator(".about", { hasText: "4 passages found" }).waitFor();
  const results = page.getByRole("article");
  const first = results.first();
  await first.getByText("page 1 › Carried over").waitFor();
  assert.deepEqual(await first.locator("mark").allInnerTexts(), ["holidays", "carried", "over"]);
  await first.getByText("Relevance 100%").click();
  await first.getByText("Rare words count more.").waitFor();
  await first.getByText("6.42, best here: 6.42").waitFor();
  await first.getByText("Keyword search only").waitFor();
  await picture("results");

  await page.getByLabel("Where to search").selectOption("Recipes");
  await page.locator(".about", { hasText: "1 passage found" }).waitFor();
  await page.goBack();
  await page.locator(".about", { hasText: "4 passages found" }).waitFor();

  await first.getByRole("link").click();
  const mark = page.locator("article mark");
  await mark.waitFor();
  assert.equal(await mark.innerText(), "Five holidays may be carried over to March.");
  await page.waitForFunction(() => {
    const { top, bottom } = document.querySelector("article mark").getBoundingClientRect();
    return top > 0 && bottom < innerHeight;
  });
  assert.equal(await mark.evaluate((element) => element === document.activeElement), true);
  await page.getByText("Page 2").waitFor({ state: "attached" });
  await picture("document");

  const contents = page.getByRole("navigation", { name: "Contents" });
  assert.deepEqual(await contents.getByRole("link").allInnerTexts(), [
    "Holidays",
    "Carried over",
    "Sickness",
  ]);
  await contents.getByRole("link", { name: "Sickness" }).press("Enter");
  await page.waitForFunction(() => document.activeElement.textContent.trim() === "Sickness");
  await page.goBack();
  await page.locator(".about", { hasText: "4 passages found" }).waitFor();
});

test("a document that has changed says that the passage is gone", async () => {
  const collection = own({ name: "Handbook" });
  const document = put(collection, "short.md", "Short.");
  knowledge.readAll();
  await page.goto(`/knowledge/${collection.id}/${document.id}?from=500&to=600`);
  await page.getByText("This passage is no longer in the text").waitFor();
});

test("the work on a document is stopped, and gone on with", async () => {
  const collection = own({ name: "Handbook" });
  knowledge.rests = true;
  put(collection, "long.md", "A walrus.");
  const sign = put(collection, "sign.png", "x");
  Object.assign(sign, { picture: true, problem: { code: "vision_failed", message: "The model is down." } });
  await page.goto(`/knowledge/${collection.id}`);
  await row("long.md").getByText("Queued").waitFor();
  await row("sign.png").getByText("Reading image…").waitFor();
  await row("sign.png").getByText("The vision model failed.").waitFor();
  await picture("waiting");
  await button("Stop processing “long.md”").press("Enter");
  await row("long.md").getByText("Stopped.").waitFor();
  assert.equal(await button("Stop processing “long.md”").count(), 0);
  knowledge.rests = false;
  await button("Reprocess “long.md”").press("Enter");
  await row("long.md").getByText("1 passage").waitFor();
});

test("a file that the server would refuse is not sent", async () => {
  const collection = own({ name: "Handbook" });
  knowledge.fileBytes = 5;
  await page.goto(`/knowledge/${collection.id}`);
  await chooser("Upload files").setInputFiles([file("large.md", "Too long.")]);
  await page.getByText("The file is too large").waitFor();
  assert.deepEqual(collection.documents, []);
});

test("those of others are read, not changed", async () => {
  // Administrators have additional actions.
  server.user.role = "user";
  const theirs = knowledge.add("user_2", { name: "Recipes", open: true }, "Bob Byte");
  put(theirs, "bread.md", "Flour and water.");
  knowledge.add("user_2", { name: "Secrets", open: false }, "Bob Byte");
  knowledge.readAll();
  own({ name: "Handbook" });
  await page.goto("/knowledge");
  await row("Recipes").getByText("by Bob Byte").waitFor();
  assert.deepEqual(await page.getByRole("main").getByRole("heading", { level: 2 }).allInnerTexts(), [
    "Mine",
    "Shared by others",
  ]);
  await picture("all");
  await link("Recipes").click();
  await row("bread.md").waitFor();
  for (const name of ["Upload files", "Delete “bread.md”", "Actions for “Recipes”"])
    assert.equal(await button(name).count(), 0, name);
  await page.goto("/knowledge/col_2");
  await page.getByText("Collection not found, or it is not shared with you.").waitFor();
  const complaints = page.complaints.splice(0);
  assert.ok(
    complaints.every((text) => text.includes("status of 404")),
    complaints.join("\n"),
  );
});

test("many documents are shown in parts and found by name", async () => {
  const collection = own({ name: "Papers" });
  for (let n = 1; n <= 250; n += 1) put(collection, `paper-${String(n).padStart(3, "0")}.md`, "x");
  knowledge.readAll();
  await page.goto(`/knowledge/${collection.id}`);
  await page.getByRole("heading", { name: "250 documents" }).waitFor();
  assert.equal(await page.locator(".rows > li").count(), 100);
  await button("Show more").click();
  assert.equal(await page.locator(".rows > li").count(), 200);
  await page.getByLabel("Filter by name").fill("PAPER-24");
  assert.equal(await page.locator(".rows > li").count(), 10);
});

test("on a phone, in Russian and in the dark", async () => {
  await page.context().close();
  page = await openPage(browser, {
    url: server.url,
    preferences: { theme: "dark", language: "ru" },
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  const collection = own({ name: "Справочник сотрудника", description: "Отпуска и больничные.", open: true });
  put(collection, "отпуск.md", handbook.replaceAll("holidays", "отпускных дней"));
  put(collection, "сломан.pdf", "%PDF");
  knowledge.readAll();
  knowledge.rests = true;
  put(collection, "очень-длинное-имя-документа-без-единого-пробела-2026-11-23.md", "x");
  const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
  await page.goto("/knowledge");
  await page.getByText("3 документа").waitFor();
  await picture("phone-all");
  assert.ok(await fits());
  await link("Справочник сотрудника").click();
  await row("сломан.pdf").getByText("его нельзя прочитать как PDF").waitFor();
  await picture("phone-one");
  assert.ok(await fits());
  await page.getByRole("main").getByRole("searchbox").fill("отпускных");
  await button("Найти").click();
  await page.getByText("Релевантность").first().click();
  await picture("phone-results");
  assert.ok(await fits());
  await page.getByRole("article").first().getByRole("link").click();
  await page.locator("article mark").waitFor();
  await picture("phone-document");
  assert.ok(await fits());
});
