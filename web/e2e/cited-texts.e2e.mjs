/** Citations of documents with the real program: the cited text stays after the document was replaced or deleted. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  { contains: "Walrus food", turns: [turn(text("It costs 412 euros [1]."))] },
  { contains: "", turns: [turn(text("I do not know."))] },
];

let browser, model, glasshouse, page, collection, cited;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(CASES), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Harbour" } });
  collection = (await made.json()).id;
});
test.afterAll(async () => {
  assert.deepEqual(page?.complaints, []);
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

const pricesFor = (euros) => `# Prices\n\nRopes cost 10 euros.\n\nWalrus food costs ${euros} euros.\n`;
const file = (name, content) => ({ name, mimeType: "text/markdown", buffer: Buffer.from(content) });
const listed = async () =>
  (await (await page.request.get(`/api/v1/knowledge/${collection}/documents`)).json()).documents;
const isRead = (size) =>
  until("it is read", async () => {
    const [document] = await listed();
    return document?.state === "ready" && document.size_bytes === size;
  });
const upload = () => page.getByLabel("Upload files").and(page.locator("input"));

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/cited-texts-${name}.png` });
}

/** Asks about the collection on its page, and opens the citation of the answer. */
async function openCitation() {
  await page.getByRole("button", { name: "Ask about it" }).click();
  await page.getByLabel("Message", { exact: true }).fill("What does Walrus food cost?");
  await page.getByRole("button", { name: "Send", exact: true }).and(page.locator(":enabled")).click();
  const link = page.locator("[data-cite]").first();
  await link.waitFor();
  await page.getByRole("button", { name: /^Sources/ }).waitFor();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
  return opened;
}

async function opensCited() {
  await page.goto(cited);
  await page.locator("article mark").first().waitFor();
  assert.match((await page.locator("article mark").allInnerTexts()).join(" "), /Walrus food costs 412 euros/);
}

test("a citation has the version of the document's text", async () => {
  await page.goto(`/knowledge/${collection}`);
  await upload().setInputFiles(file("prices.md", pricesFor(412)));
  await isRead(pricesFor(412).length);
  const opened = await openCitation();
  await opened.locator("article mark").first().waitFor();
  assert.equal(await opened.getByText("This document has changed").count(), 0);
  cited = new URL(opened.url()).pathname + new URL(opened.url()).search;
  assert.match(cited, /^\/knowledge\/coll_[0-9a-f]+\/doc_[0-9a-f]+\?from=\d+&to=\d+&version=\d+$/);
  await opened.close();
});

test("after the document was replaced, the citation opens the earlier text and leads to the current one", async () => {
  await page.goto(`/knowledge/${collection}`);
  await page.getByRole("link", { name: "prices.md", exact: true }).waitFor();
  await upload().setInputFiles(file("prices.md", pricesFor(1500)));
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Answers that cite an earlier text keep it.").waitFor();
  await dialog.getByRole("button", { name: "Replace" }).click();
  await isRead(pricesFor(1500).length);

  await opensCited();
  await page.getByText(/^This document has changed since it was cited \(.+\)/).waitFor();
  await page.getByRole("button", { name: "Delete earlier texts" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Download original" }).count(), 0);
  await check(page, "a cited text of a document that has changed");
  await picture("changed");
  await page.getByRole("link", { name: "Open current version" }).click();
  await page.getByText("Walrus food costs 1500 euros.").waitFor();
  await page.getByText("Earlier texts of this document are kept because answers cite them.").waitFor();
  await picture("current");
});

test("after the document was deleted, the citation opens its text until that is deleted, too", async () => {
  await page.goto(`/knowledge/${collection}`);
  await page.getByRole("button", { name: "Delete “prices.md”" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Answers cite this document.").waitFor();
  assert.ok(!(await dialog.getByLabel("Also delete the cited text").isChecked()));
  await check(page, "the deletion of a cited document");
  await picture("deletion");
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No documents yet").waitFor();

  await opensCited();
  await page.getByText("This document was deleted.").waitFor();
  assert.equal(await page.getByRole("link", { name: "Open current version" }).count(), 0);
  await picture("deleted");
  await page.getByRole("button", { name: "Delete earlier texts" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No documents yet").waitFor();
});

test("the cited text can be deleted together with the document", async () => {
  await page.goto(`/knowledge/${collection}`);
  await upload().setInputFiles(file("prices.md", pricesFor(412)));
  await isRead(pricesFor(412).length);
  const opened = await openCitation();
  cited = opened.url();
  await opened.close();

  await page.goto(`/knowledge/${collection}`);
  await page.getByRole("button", { name: "Delete “prices.md”" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Also delete the cited text").check();
  await dialog.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("No documents yet").waitFor();
  await page.goto(cited);
  await page.locator(".problem").waitFor();
  assert.equal(await page.locator("article").count(), 0);
  // The browser reports that the text is missing.
  page.complaints.splice(0);
});
