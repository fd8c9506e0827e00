/** Document collections with the real program: uploaded, parsed, searched, opened at a passage, shared, deleted. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { isAsked, launch, openPage } from "./browser.mjs";
import { addPerson, bob, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([
    launch(),
    // As on a machine without Tesseract.
    startGlasshouse({ GLASSHOUSE_KNOWLEDGE_OCR: "false" }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const file = (name, text) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
/** Just enough of a PNG to contain its size. */
const png = (width, height) => {
  const head = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\0\b\x02\0\0\0", "latin1");
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
};
const linkOf = (on, name) => on.getByRole("link", { name, exact: true });
const rowOf = (on, name) => on.locator(".rows > li", { has: linkOf(on, name) });
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/knowledge-${name}.png` });
}

const filler = "The canteen is open — and 😀 warm — every day of the week. ".repeat(60);
const handbook = `# Handbook\n\n${filler}\n\n## Leave\n\n${filler}\n\n### Carrying over\n\nUp to five days of leave may be carried over to March.\n\n## Canteen\n\n${filler}\n`;
const russian = "Договор аренды\n\nАрендатор вправе расторгнуть договор, предупредив за тридцать дней.\n";

test("documents are sent, read or refused in words", async () => {
  await page.goto("/knowledge");
  await page.getByRole("button", { name: "New collection" }).click();
  await page.getByLabel("Name").fill("Company");
  await page.getByLabel("Description").fill("How we work.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("No documents yet").waitFor();
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([
      file("handbook.md", handbook),
      file("договор.txt", russian),
      file("broken.pdf", "%PDF-1.7\nnothing of it is here"),
      file("empty.txt", ""),
      { name: "sign.png", mimeType: "image/png", buffer: png(640, 480) },
    ]);
  await page.getByText("4 files uploaded").waitFor();
  await page.getByText("The file is empty.").waitFor();
  await page.getByRole("button", { name: "Hide" }).click();
  await rowOf(page, "handbook.md")
    .getByText(/\d passages?/)
    .waitFor();
  await rowOf(page, "договор.txt").getByText("1 passage").waitFor();
  await rowOf(page, "broken.pdf").getByText("can’t be read as PDF").waitFor();
  await rowOf(page, "sign.png").getByText("Images need text recognition or a vision model").waitFor();
  await check(page, "documents that were read");
  await picture("documents");
});

test("what was read from the web is taken off the list, also by keys", async () => {
  const address = page.getByLabel("URL of a page or site");
  const off = (url) => page.getByRole("button", { name: `Remove ${url} from the list` });
  const [first, second] = ["http://one.invalid/", "http://two.invalid/"];
  for (const url of [first, second]) {
    await address.fill(url);
    await page.keyboard.press("Enter");
    await off(url).waitFor();
  }
  await check(page, "pages of the web that were read");
  await picture("crawls");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await off(first).scrollIntoViewIfNeeded();
  await picture("crawls-phone-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
  // The latest is first; after removal the focus moves to a remaining one.
  await off(second).focus();
  await page.keyboard.press("Enter");
  await off(second).waitFor({ state: "detached" });
  await page.waitForFunction(
    (name) => document.activeElement?.ariaLabel === name,
    `Remove ${first} from the list`,
  );
  await page.keyboard.press("Enter");
  await off(first).waitFor({ state: "detached" });
  await page.waitForFunction(() => document.activeElement?.matches("input[inputmode=url]"));
  await page.reload();
  await address.waitFor();
  await linkOf(page, "handbook.md").waitFor();
  assert.equal(await off(first).count(), 0);
});

test("text is pasted as a document", async () => {
  await page.getByRole("button", { name: "Paste text" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Title").fill("Parking");
  await dialog.getByLabel("Text").fill("Guests park behind the brewery.");
  await check(page, "text to paste");
  await picture("paste");
  await dialog.getByRole("button", { name: "Add" }).click();
  await rowOf(page, "Parking.md").getByText("1 passage").waitFor();
});

test("a passage is found in its language and opened where it stands", async () => {
  await page.getByRole("main").getByRole("searchbox").fill("расторжение договоров");
  await page.keyboard.press("Enter");
  const result = page.getByRole("article").first();
  await result.getByRole("link", { name: "договор.txt" }).waitFor();
  assert.ok((await result.locator("mark").count()) > 0);

  await page.getByRole("main").getByRole("searchbox").fill("how many days of leave are carried over");
  await page.keyboard.press("Enter");
  await result.getByRole("link", { name: "handbook.md" }).waitFor();
  await result.getByText("Carrying over").first().waitFor();
  // As plain text, with the words of the query highlighted.
  assert.doesNotMatch(await result.locator("p").first().innerText(), /[#|*]/);
  assert.ok((await result.locator("p").first().locator("mark").count()) > 0);
  await result.getByText("Relevance").click();
  await result.getByText("Determines the order of the results.").waitFor();
  await picture("results");
  const address = new URL(await result.getByRole("link").getAttribute("href"), glasshouse.url);
  await result.getByRole("link").click();
  const marks = page.locator("article mark");
  await marks.first().waitFor();
  // Exactly the passage, although bytes, characters and UTF-16 units differ before it.
  const [from, to] = ["from", "to"].map((name) => Number(address.searchParams.get(name)));
  const passage = [...handbook].slice(from, to).join("");
  const bare = (text) => text.replace(/[#\s]/g, "");
  assert.equal(bare((await marks.allInnerTexts()).join("")), bare(passage));
  assert.ok(passage.includes("Up to five days"));
  await page.waitForFunction(() => {
    const { top } = document.querySelector("article mark").getBoundingClientRect();
    return top >= 0 && top < innerHeight;
  });
  assert.deepEqual(
    await page.getByRole("navigation", { name: "Contents" }).getByRole("link").allInnerTexts(),
    ["Handbook", "Leave", "Carrying over", "Canteen"],
  );
  await check(page, "a document at a passage");
  await picture("document");
});

test("a search is narrowed to kinds of files, names and days", async () => {
  await page.goto("/knowledge");
  await page.getByRole("main").getByRole("searchbox").fill("guests park");
  await page.keyboard.press("Enter");
  await page.getByRole("article").first().getByRole("link", { name: "Parking.md" }).waitFor();
  await page.getByRole("button", { name: "Filter" }).press("Enter");
  await page.getByLabel("File type").selectOption({ label: "PDF" });
  await page.locator(".about", { hasText: "No results for “guests park”" }).waitFor();
  await page.getByLabel("File type").selectOption({ label: "Text files" });
  await page.getByRole("article").first().getByRole("link", { name: "Parking.md" }).waitFor();
  await page.getByLabel("Added after").fill("2026-01-01");
  await page.waitForURL(/since=2026-01-01/);
  await page.getByRole("article").first().getByRole("link", { name: "Parking.md" }).waitFor();
  const name = page.getByLabel("Name contains");
  await name.fill("lease");
  await name.press("Enter");
  await page.locator(".about", { hasText: "No results for" }).waitFor();
  await name.fill("PARK");
  await name.press("Enter");
  await page.getByRole("article").first().getByRole("link", { name: "Parking.md" }).waitFor();
  // The explanation of the ranking is unchanged.
  await page.getByText("Relevance").first().click();
  await page.getByText("Determines the order of the results.").first().waitFor();
  await check(page, "a narrowed search");
  await picture("narrowed");
  await page.getByLabel("Added before").fill("2026-01-02");
  await page.locator(".about", { hasText: "No results for" }).waitFor();
  await page.getByLabel("Added before").fill("");
  await page.getByRole("article").first().waitFor();
  await page.getByLabel("Added after").fill("2999-01-01");
  await page.locator(".about", { hasText: "No results for" }).waitFor();
});

test("opened to everybody, a second person reads it and changes nothing", async () => {
  await addPerson(page);
  const other = await openPage(browser, { url: glasshouse.url });
  await logIn(other, bob);
  await other.locator("#composer").waitFor();
  await other.goto("/knowledge");
  await other.getByText("No collections yet").waitFor();

  await page.goto("/knowledge");
  await page.getByRole("button", { name: "Actions for “Company”" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  await page.getByRole("switch").click();
  await page.getByRole("button", { name: "Save" }).click();
  await rowOf(page, "Company").getByText("Open to everyone").waitFor();

  await other.reload();
  await rowOf(other, "Company").getByText("by Ada Lovelace").waitFor();
  await other.getByRole("main").getByRole("searchbox").fill("тридцать дней");
  await other.keyboard.press("Enter");
  await other.getByRole("article").first().getByRole("link", { name: "договор.txt" }).click();
  await other.locator("article mark").first().waitFor();
  await linkOf(other, "Back to collection").click();
  await rowOf(other, "handbook.md").waitFor();
  assert.equal(await other.getByRole("button", { name: /Delete|Upload|Actions/ }).count(), 0);
  await other.getByRole("button", { name: "Ask about it" }).waitFor();
  assert.equal(await linkOf(other, "Graph").count(), 0, "there is no graph to see");
  await other.context().close();
});

test("without a model for graphs, an administrator is led to its setting", async () => {
  await linkOf(page, "Company").click();
  await linkOf(page, "Graph").click();
  await page.getByText("This server has no model for graphs.").waitFor();
  await linkOf(page, "Open the setting").click();
  await page.getByRole("combobox", { name: "Model for knowledge graphs" }).waitFor();
  await page.goto("/knowledge");
});

test("shared with a group and by name, it is read, until it is shared no longer", async () => {
  await page.getByRole("button", { name: "Actions for “Company”" }).click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share “Company”" });
  // It was shared with everyone before.
  await dialog.getByRole("switch").click();
  await dialog.locator("[role=switch]:not(:checked)").waitFor();
  const other = await openPage(browser, {
    url: glasshouse.url,
    preferences: { theme: "dark" },
    viewport: { width: 390, height: 844 },
  });
  await logIn(other, bob);
  await other.locator("#composer").waitFor();
  await other.evaluate(() => {
    localStorage.setItem("glasshouse.preferences", JSON.stringify({ theme: "dark", language: "ru" }));
  });
  const reads = async () => {
    const answer = await other.request.get("/api/v1/knowledge");
    return (await answer.json()).collections.length;
  };
  assert.equal(await reads(), 0);

  await dialog.getByLabel("Email address").fill("nobody@example.org");
  await page.keyboard.press("Enter");
  await dialog.getByText("No account has this email address.").waitFor();
  page.complaints.length = 0;
  await dialog.getByLabel("Email address").fill(bob.email);
  await page.keyboard.press("Enter");
  await dialog.getByText("Bob Byte").waitFor();
  assert.equal(await reads(), 1);
  await check(page, "who reads a collection");
  await picture("sharing");
  await isAsked(dialog.getByRole("button", { name: "Stop sharing with Bob Byte" }), "Stop sharing");
  await dialog.getByText("Bob Byte").waitFor({ state: "detached" });
  assert.equal(await reads(), 0);

  const made = await page.request.post("/api/v1/groups", { data: { name: "Sales" } });
  const { id } = await made.json();
  await page.request.post(`/api/v1/groups/${id}/members`, { data: { users: [bob.email] } });
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Actions for “Company”" }).click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  await dialog.getByLabel("Sales").click();
  await dialog.locator("input[type=checkbox]:not([role]):checked").waitFor();
  assert.equal(await reads(), 1);
  await page.keyboard.press("Escape");
  await rowOf(page, "Company").getByText("Shared", { exact: true }).waitFor();
  await other.goto("/knowledge");
  await other.getByRole("heading", { name: "Доступные мне" }).waitFor();
  await rowOf(other, "Company").waitFor();
  if (process.env.E2E_PICTURES)
    await other.screenshot({ path: `${process.env.E2E_PICTURES}/knowledge-shared-phone.png` });

  // An administrator who stops sharing someone else's collection may lose access.
  const theirs = await (await other.request.post("/api/v1/knowledge", { data: { name: "Theirs" } })).json();
  await other.request.put(`/api/v1/knowledge/${theirs.id}/sharing`, {
    data: { open: true, groups: [], people: [] },
  });
  await other.context().close();
  await page.goto("/knowledge");
  await page.getByRole("button", { name: "Actions for “Theirs”" }).click();
  await page.getByRole("menuitem", { name: "Share" }).click();
  await page.getByText("You’re changing this as an administrator.").waitFor();
  await isAsked(page.getByRole("switch", { name: "Everyone on this server" }), "Stop sharing", "Space");
  await linkOf(page, "Theirs").waitFor({ state: "detached" });
});

test("what is deleted is found no more", async () => {
  await linkOf(page, "Company").click();
  await page.getByRole("button", { name: "Delete “договор.txt”" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await rowOf(page, "договор.txt").waitFor({ state: "detached" });
  await page.getByRole("main").getByRole("searchbox").fill("договор");
  await page.keyboard.press("Enter");
  await page.locator(".about", { hasText: "No results for “договор”" }).waitFor();
  await page.getByRole("button", { name: "Actions for “Company”" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.waitForURL("**/knowledge");
  await page.getByText("No collections yet").waitFor();
});
