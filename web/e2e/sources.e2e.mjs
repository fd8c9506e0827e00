/**
 * Sources of a collection with the real program: a folder and a feed are added, synchronized, edited and removed; the
 * page asks before many documents are deleted, and says why a source fails.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { addPerson, bob, callApi, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, folder, glasshouse, page, web;

/** A feed behind a password, and nothing else. */
async function startFeed() {
  const server = createServer((request, response) => {
    const isAllowed =
      request.headers.authorization === `Basic ${Buffer.from("ada:engine").toString("base64")}`;
    response.statusCode = request.url !== "/feed.xml" ? 404 : isAllowed ? 200 : 401;
    response.setHeader("content-type", "application/rss+xml");
    response.end(
      `<rss version="2.0"><channel><title>News</title><item><guid>1</guid><title>The engine is ready</title>
      <description>It computes Bernoulli numbers.</description></item></channel></rss>`,
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glasshouse-source-"));
  web = await startFeed();
  await mkdir(join(folder, "drafts"));
  const files = Array.from({ length: 12 }, (_, at) => [
    `page-${at + 1}.md`,
    `# Page ${at + 1}\n\nWalrus ${at}.\n`,
  ]);
  for (const [name, text] of [...files, ["drafts/idea.md", "# Idea\n"]]) {
    await writeFile(join(folder, name), text);
  }
  [browser, glasshouse] = await Promise.all([
    launch(),
    startGlasshouse({
      GLASSHOUSE_KNOWLEDGE_SOURCE_FOLDERS: JSON.stringify([folder]),
      GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.0/8",
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await web?.stop();
  if (folder) await rm(folder, { recursive: true });
});

const button = (name, on = page) => on.getByRole("button", { name, exact: true });
const dialog = (name) => page.getByRole("dialog", { name, exact: true });
const rowOf = (name) => page.getByRole("list", { name: "Sources" }).locator(":scope > li", { hasText: name });
const stateOf = (name) => rowOf(name).getByRole("status");
const documents = (count) =>
  page.getByRole("heading", { name: `${count} document${count === 1 ? "" : "s"}` });
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/sources-${name}.png` });
}

test("a folder is added from the empty collection, and its documents appear", async () => {
  await page.goto("/knowledge");
  await button("New collection").click();
  await page.getByLabel("Name").fill("Handbook");
  await button("Save").click();
  await page.getByText("No documents yet").waitFor();
  await picture("empty");
  await page.locator(".first").getByRole("button", { name: "Add source" }).press("Enter");
  await check(page, "the kinds of sources");
  await picture("kinds");
  await button("Folder on this server", dialog("Add source")).press("Enter");
  const form = dialog("Folder on this server");
  await hasValue(form.getByLabel("Name"), "Folder on this server");
  await hasValue(form.getByLabel("Folder", { exact: true }), folder);
  await form.getByLabel("Name").fill("Pages");
  // Input is not lost to a key.
  await page.keyboard.press("Escape");
  await button("Keep editing", form).press("Enter");
  await form.getByText("More", { exact: true }).click();
  await form.getByLabel("Leave out these paths").fill("[");
  await button("Add", form).press("Enter");
  await form.getByText("[ is not a valid pattern of paths.").waitFor();
  await picture("refused");
  await form.getByLabel("Leave out these paths").fill("drafts/**");
  await check(page, "the form of a source");
  await button("Add", form).press("Enter");
  await form.waitFor({ state: "detached" });
  await stateOf("Pages")
    .getByText(/^Synchronized .* · 12 new$/)
    .waitFor();
  await documents(12).waitFor();
  await rowOf("Pages").getByText("12 documents").waitFor();
  await rowOf("Pages")
    .getByText(/Next: in \d+ (min|hr)/)
    .waitFor();
  await picture("added");
  await check(page, "a collection with a source");
});

test("what has changed is synchronized at the press of a button, and in the log", async () => {
  await writeFile(join(folder, "page-1.md"), "# Page 1\n\nA seal.\n");
  await writeFile(join(folder, "page-13.md"), "# Page 13\n\nA new one.\n");
  await rm(join(folder, "page-12.md"));
  await button("Synchronize “Pages” now").press("Enter");
  await stateOf("Pages")
    .getByText(/ · 1 new · 1 changed · 1 deleted$/)
    .waitFor();
  await documents(12).waitFor();
  await button("Log of “Pages”").press("Enter");
  const log = dialog("Log of “Pages”");
  const states = log.locator("details").first().locator("li");
  await until("the log has the documents", async () => {
    const lines = await states.allInnerTexts();
    return (
      lines.map((line) => line.replace(/\s+/g, " ")).join("; ") ===
      "page-1.md Changed; page-12.md Deleted; page-13.md New"
    );
  });
  await log.getByText(/ · 12 new$/).click();
  await log.getByText("page-7.md").waitFor();
  await check(page, "the log of a source");
  await picture("log");
  await page.keyboard.press("Escape");
});

test("many documents are deleted only if their number is agreed to", async () => {
  for (const at of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) await rm(join(folder, `page-${at}.md`));
  const sync = button("Synchronize “Pages” now");
  await sync.press("Enter");
  await stateOf("Pages").getByText("Waiting for you: 11 documents would be deleted").waitFor();
  const question = rowOf("Pages").getByRole("alert");
  await question.getByText("11 documents are no longer in “Pages”").waitFor();
  await question.getByText("Show names").click();
  await question.getByText("page-11.md").waitFor();
  assert.equal(await question.getByRole("listitem").count(), 11);
  await check(page, "a question about many documents");
  await picture("question");
  await button("Keep them", question).press("Enter");
  await stateOf("Pages")
    .getByText(/^Nothing deleted: you kept 11 documents that are no longer in the source/)
    .waitFor();
  await button("Log of “Pages”").press("Enter");
  const log = dialog("Log of “Pages”");
  const kept = log.locator("details").first().locator("li", { hasText: "No longer in the source" });
  await until("the log has the kept documents", async () => (await kept.count()) === 11);
  await picture("kept");
  await page.keyboard.press("Escape");
  await documents(12).waitFor();
  assert.equal(await question.count(), 0);

  await sync.press("Enter");
  await button("Delete 11 documents", question).press("Enter");
  // One key is not enough.
  await page.keyboard.press("Enter");
  await documents(12).waitFor();
  await button("Delete 11 documents", question).press("Enter");
  await button("Delete 11 documents", dialog("Delete 11 documents")).press("Enter");
  await stateOf("Pages")
    .getByText(/ · 11 deleted$/)
    .waitFor();
  await documents(1).waitFor();
});

test("a source that fails says why, and keeps its secret only at the same address", async () => {
  await button("Add source").press("Enter");
  await button("Feed (RSS, Atom)", dialog("Add source")).press("Enter");
  const form = dialog("Feed (RSS, Atom)");
  await form.getByLabel("Address of the feed").fill("ftp://127.0.0.1/feed.xml");
  await form.getByLabel("Synchronize").selectOption("Only by hand");
  await button("Add", form).press("Enter");
  await form.getByText(/^It is not a usable address/).waitFor();
  assert.equal(await form.getByLabel("Address of the feed").getAttribute("aria-invalid"), "true");
  await form.getByLabel("Address of the feed").fill(`${web.url}/feed.xml`);
  await form.getByText("More", { exact: true }).click();
  await form.getByLabel("User").fill("ada");
  await form.getByLabel("Password").fill("wrong");
  await picture("form");
  await button("Add", form).press("Enter");
  await stateOf("Feed")
    .getByText(/^Failed .*: The source refuses access\./)
    .waitFor();
  await rowOf("Feed").getByText("Only by hand").waitFor();
  await check(page, "a source that fails");
  await picture("failed");

  await button("Edit “Feed (RSS, Atom)”").press("Enter");
  const edit = dialog("Edit “Feed (RSS, Atom)”");
  await edit.getByText("More", { exact: true }).click();
  await edit.getByText("Stored, and never shown. Enter a new one to replace it.").waitFor();
  await edit.getByLabel("User").fill("bob");
  await edit.getByText("The address or account has changed: enter it again.").waitFor();
  await edit.getByLabel("User").fill("ada");
  await edit.getByLabel("Password").fill("engine");
  await edit.getByLabel("Name").fill("News");
  await button("Save", edit).press("Enter");
  await edit.waitFor({ state: "detached" });
  await button("Synchronize “News” now").press("Enter");
  await stateOf("News")
    .getByText(/ · 1 new$/)
    .waitFor();
  await documents(2).waitFor();

  // The stored secret still works after a change of something else.
  await button("Edit “News”").press("Enter");
  await dialog("Edit “News”").getByLabel("Synchronize").selectOption("Every day");
  await button("Save", dialog("Edit “News”")).press("Enter");
  await rowOf("News")
    .getByText(/Next: in 2[34] hr|Next: tomorrow|Next: in 1 day/)
    .waitFor();
  await button("Synchronize “News” now").press("Enter");
  await stateOf("News")
    .getByText(/ · no changes$/)
    .waitFor();
});

test("a stored secret is removed, and the audit log says so", async () => {
  await button("Edit “News”").press("Enter");
  const edit = dialog("Edit “News”");
  await edit.getByText("More", { exact: true }).click();
  await button("Remove it", edit).press("Enter");
  await edit.getByText("It is removed when you save.").waitFor();
  await button("Keep it", edit).press("Enter");
  await edit.getByText("Stored, and never shown. Enter a new one to replace it.").waitFor();
  await button("Remove it", edit).press("Enter");
  await check(page, "the removal of a secret");
  await picture("secret");
  await button("Save", edit).press("Enter");
  await edit.waitFor({ state: "detached" });
  await button("Synchronize “News” now").press("Enter");
  await stateOf("News")
    .getByText(/^Failed .*: The source refuses access\./)
    .waitFor();
  await button("Edit “News”").press("Enter");
  await edit.getByText("More", { exact: true }).click();
  assert.equal(await button("Remove it", edit).count(), 0);
  await edit.getByLabel("Password").fill("engine");
  await button("Save", edit).press("Enter");
  await edit.waitFor({ state: "detached" });

  const collection = page.url();
  await page.goto("/settings/audit");
  await page.getByText("Refused to delete many documents of source").first().waitFor();
  await page.getByText("Agreed to delete many documents of source").first().waitFor();
  await page.getByText("Changed source").first().waitFor();
  await check(page, "sources in the audit log");
  await picture("audit");
  await page.goto(collection);
  await rowOf("News").waitFor();
});

test("others who read the collection see no sources, and have no folders of the server", async () => {
  await addPerson(page, bob);
  const id = page.url().split("/").at(-1);
  await callApi(page, glasshouse.url, "patch", `/knowledge/${id}`, { open: true });
  const other = await openPage(browser, { url: glasshouse.url });
  await logIn(other, bob);
  await other.waitForURL((url) => !url.pathname.startsWith("/login"));
  await other.goto(`/knowledge/${id}`);
  await other.getByRole("link", { name: "page-13.md", exact: true }).waitFor();
  assert.equal(await other.getByRole("heading", { name: "Sources" }).count(), 0);
  await other.goto("/knowledge");
  await button("New collection", other).click();
  await other.getByLabel("Name").fill("Mine");
  await button("Save", other).click();
  await button("Add source", other).first().click();
  await button("Git repository", other).waitFor();
  assert.equal(await button("Folder on this server", other).count(), 0);
  assert.deepEqual(other.complaints, []);
  await other.context().close();
});

test("a source is removed with its documents, or without", async () => {
  await button("Remove “News”").press("Enter");
  const question = dialog("Remove “News”");
  await question.getByText("1 document of this source is in the collection.").waitFor();
  await check(page, "the removal of a source");
  await picture("removal");
  await button("Remove", question).press("Enter");
  await rowOf("News").waitFor({ state: "detached" });
  await documents(2).waitFor();
  await button("Remove “Pages”").press("Enter");
  await dialog("Remove “Pages”").getByText("Delete the documents, too").click();
  await button("Remove", dialog("Remove “Pages”")).press("Enter");
  await rowOf("Pages").waitFor({ state: "detached" });
  await documents(1).waitFor();
  const refusals = page.complaints.splice(0);
  // The refused patterns and addresses.
  assert.ok(
    refusals.every((text) => /status of 400/.test(text)),
    refusals.join("\n"),
  );
});
