/** Tags and metadata of documents with the real program: from files, set, of several documents, and as filters. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
const link = (name) => page.getByRole("link", { name, exact: true });
const button = (name) => page.getByRole("button", { name });
const row = (name) => page.locator(".rows > li", { has: link(name) });
const tag = (name) => page.getByRole("group", { name: "Filter by tag" }).getByRole("button", { name });
const chips = (on) => on.getByRole("list", { name: "Tags" }).getByRole("listitem");

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [size, width, height] of [
      ["desktop", 1280, 860],
      ["phone", 390, 800],
    ]) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(300);
      await page.screenshot({ path: `${folder}/tags-${name}-${scheme}-${size}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
}

const plan =
  "---\nauthor: Ada Lovelace\ndate: 2026-05-01\ntags: [HR, draft]\n---\n# Plan\n\nThe walrus plan.\n";
const lease = "---\nauthor: Bob\ndate: 2025-01-15\ntags: legal\n---\n# Lease\n\nThe walrus lease.\n";

test("tags of files are shown, and filter the list", async () => {
  await page.goto("/knowledge");
  await button("New collection").click();
  await page.getByLabel("Name").fill("Company");
  await button("Save").click();
  await page.getByText("No documents yet").waitFor();
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([file("plan.md", plan), file("lease.md", lease), file("notes.txt", "A walrus note.")]);
  await page.getByText("3 files uploaded").waitFor();
  await row("plan.md").getByText("HR").waitFor();
  assert.deepEqual(await chips(row("plan.md")).allTextContents(), ["draft", "HR"]);
  await tag(/^HR/).click();
  await row("lease.md").waitFor({ state: "detached" });
  await row("plan.md").waitFor();
  assert.match(page.url(), /tags=HR/);
  await check(page, "documents with a tag");
  await picture("list");
  await tag(/^HR/).click();
  await row("lease.md").waitFor();
});

test("several documents are tagged at once", async () => {
  await button("Select").click();
  await page.getByLabel("Select “lease.md”").check();
  await page.getByLabel("Select “notes.txt”").check();
  await page.getByText("2 selected").waitFor();
  await picture("selection");
  await button("Edit tags").click();
  const dialog = page.getByRole("dialog", { name: "Edit tags of 2 documents" });
  await dialog.getByLabel("Add tags").fill("archive, 2026");
  await dialog.getByLabel("Add tags").press("Enter");
  await dialog.getByLabel("Remove tags").fill("legal");
  await dialog.getByLabel("Remove tags").press("Enter");
  await dialog.getByLabel("Field").fill("department");
  await dialog.getByLabel("Value").fill("Sales");
  await check(page, "the dialog for several documents");
  await picture("dialog");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await row("notes.txt").getByText("archive").waitFor();
  assert.deepEqual(await chips(row("lease.md")).allTextContents(), ["2026", "archive"]);
  await button("Cancel").click();
});

test("a document has its tags and metadata on its page", async () => {
  await link("plan.md").click();
  const section = page.getByRole("region", { name: "Metadata" });
  await section.getByText("Ada Lovelace").waitFor();
  await picture("document");
  await section.getByRole("button", { name: "Edit" }).click();
  await button("Remove the tag “draft”").click();
  await page.getByRole("combobox", { name: "Tags", exact: true }).fill("final");
  await page.getByRole("combobox", { name: "Tags", exact: true }).press("Enter");
  await page.getByLabel("author", { exact: true }).fill("Grace Hopper");
  await button("Add field").click();
  await page.getByLabel("Field").last().fill("pages");
  await page.getByLabel("pages", { exact: true }).fill("12");
  await check(page, "the metadata of a document");
  await picture("editing");
  await button("Save").click();
  await section.getByText("Grace Hopper").waitFor();
  assert.deepEqual(await chips(section).allTextContents(), ["HR", "final"]);
  await section.getByText("12", { exact: true }).waitFor();
  // The file still says who wrote it.
  await section.getByRole("button", { name: "Edit" }).click();
  await button("Restore the original “author”").click();
  await button("Save").click();
  await section.getByText("Ada Lovelace").waitFor();
  await section.getByRole("button", { name: "final" }).click();
  await page.waitForURL(/tags=final/);
  await row("plan.md").waitFor();
  await row("notes.txt").waitFor({ state: "detached" });
});

test("a search is filtered by tags and metadata", async () => {
  await page.goto("/knowledge");
  await link("Company").click();
  await page.getByRole("searchbox", { name: "Search documents" }).fill("walrus");
  await button("Filter").click();
  await page.getByLabel("Field").selectOption("date");
  await page.getByLabel("From").fill("2026-01-01");
  await page.getByLabel("From").press("Enter");
  await page.getByText("1 passage found").first().waitFor();
  await picture("search");
  await page.getByLabel("Field").selectOption("");
  await page.getByText("3 passages found").first().waitFor();
  await button("Filter").click();
  await page.getByRole("combobox", { name: "Tags", exact: true }).fill("archive");
  await page.getByRole("combobox", { name: "Tags", exact: true }).press("Enter");
  await page.getByText("2 passages found").first().waitFor();
  assert.deepEqual(page.complaints, []);
});
