/** Attachments with the real program: files, `#collections`, their state, and what the model receives. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** The model can know the answers only from the attachments. */
const CASES = [
  { contains: "the seal sleeps", turns: [turn(text("It sleeps."))] },
  { contains: "costs 400 euros", turns: [turn(text("It costs **400 euros** [1][7]."))] },
  { contains: "the password is swordfish", turns: [turn(text("I have read it."))] },
  { contains: "/attachments/data.bin", turns: [turn(text("I have only its file."))] },
  { contains: "", turns: [turn(text("I know nothing of that."))] },
];

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(CASES), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

const file = (name, content) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(content),
});
const attach = (...files) => page.locator(".composer input[type=file]").setInputFiles(files);
const along = () => page.getByRole("list", { name: "Attachments" }).getByRole("listitem");
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/attached-${name}.png` });
}

test("a file is sent, read, and known to the model", async () => {
  await attach(file("walrus.md", "# The walrus\n\nIt costs 400 euros a year.\n"));
  await along().getByText("walrus.md").waitFor();
  await page.getByLabel("Message", { exact: true }).fill("What does it cost?");
  await page.getByRole("button", { name: "Send", exact: true }).and(page.locator(":enabled")).waitFor();
  await check(page, "a file that goes along");
  await picture("file");
  await page.keyboard.press("Enter");
  await page.getByText("400 euros", { exact: true }).waitFor();
  assert.equal(await along().count(), 0);
  await page.getByRole("link", { name: "walrus.md" }).first().waitFor();
  await picture("sent");
  await page.reload();
  // Documents given to the model are listed as sources, and a number without a source is plain text.
  await page.getByRole("button", { name: "Sources · 1" }).waitFor();
  await page.getByText("[7]").waitFor();
  // A file given in full is cited by its number, which links to it.
  const cited = page.locator("[data-cite]").getByText("1", { exact: true });
  await cited.hover();
  const card = page.getByRole("tooltip");
  await card.getByText("[1] walrus.md").waitFor();
  assert.match(await card.getByRole("link").getAttribute("href"), /^\/knowledge\//);
  await picture("cited");
  const link = page.locator(".mine").getByRole("link", { name: "walrus.md" });
  await link.click();
  await page.getByText("It costs 400 euros a year.").waitFor();
  await page.goto("/knowledge");
  assert.equal(await page.getByText("walrus.md").count(), 0, "it is in no list");
});

test("a file without text goes along as a file, and one taken off does not", async () => {
  await page.goto("/");
  await attach(file("data.bin", "\u0000\u0001\u0002"), file("other.txt", "Nothing."));
  await along().getByText("Attached as a file").waitFor();
  await page.getByRole("button", { name: "Remove other.txt" }).click();
  assert.equal(await along().count(), 1);
  await picture("partly");
  await page.getByLabel("Message", { exact: true }).fill("What is it?");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("I have only its file.").waitFor();
});

test("a long pasted text goes along as a file, and back into the message on demand", async () => {
  await page.goto("/");
  const field = page.getByLabel("Message", { exact: true });
  const long = `${"\tlet a = 1; // one\n".repeat(300)}the password is swordfish`;
  const paste = async (text) => {
    await page.evaluate((text) => navigator.clipboard.writeText(text), text);
    await field.press("Control+v");
  };
  await field.fill("What is it? ");
  await paste(long);
  await paste(`${long} too`);
  await along().getByText("Pasted text.txt").waitFor();
  await along().getByText("Pasted text 2.txt").waitFor();
  await hasValue(field, "What is it? ");
  await page.getByRole("button", { name: "Send", exact: true }).and(page.locator(":enabled")).waitFor();
  await picture("pasted");
  await check(page, "a pasted text that goes along");
  // Not lost by a reload, which asks nothing.
  await page.reload();
  await along().getByText("Pasted text.txt").waitFor();
  await hasValue(field, "What is it? ");
  await page.getByRole("button", { name: "Insert as text: Pasted text 2.txt" }).press("Enter");
  await hasValue(field, `What is it? ${long} too`);
  await page.keyboard.press("Control+z");
  await hasValue(field, "What is it? ");
  await page.keyboard.press("Control+Shift+z");
  await hasValue(field, `What is it? ${long} too`);
  await field.fill("What is it?");
  await page.keyboard.press("Enter");
  await page.getByText("I have read it.").waitFor();
  await page.locator(".mine").getByRole("link", { name: "Pasted text.txt" }).click();
  await page.getByText("the password is swordfish").waitFor();
});

test("a very long text is put into the message at once", async () => {
  await page.goto("/");
  const field = page.getByLabel("Message", { exact: true });
  const huge = "A line of some length, over and over.\n".repeat(5000);
  await page.evaluate((text) => navigator.clipboard.writeText(text), huge);
  await field.press("Control+v");
  const started = Date.now();
  await page.getByRole("button", { name: "Insert as text: Pasted text.txt" }).click();
  await hasValue(field, huge);
  assert.ok(Date.now() - started < 5000, `${Date.now() - started} ms`);
  await field.fill("");
});

test("typing # offers the collections, by keys", async () => {
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Harbour book" } });
  const { id } = await made.json();
  await page.request.post("/api/v1/knowledge", { data: { name: "Prices" } });
  const put = await page.request.post(`/api/v1/knowledge/${id}/documents?name=seal.txt`, {
    data: Buffer.from("In winter the seal sleeps under the pier."),
  });
  assert.ok(put.ok(), await put.text());
  await page.goto("/");
  const field = page.getByLabel("Message", { exact: true });
  await field.pressSequentially("What of the seal #");
  const options = page.getByRole("listbox", { name: "Document collections" }).getByRole("option");
  await options.nth(1).waitFor();
  await picture("hash");
  await check(page, "collections that are offered");
  await field.pressSequentially("har");
  await options.filter({ hasText: "Prices" }).waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  await along().getByText("Harbour book").waitFor();
  await hasValue(field, "What of the seal ");
  await page.keyboard.press("Enter");
  await page.getByText("It sleeps.").waitFor();
  await page.locator(".mine").getByRole("link", { name: "Harbour book" }).waitFor();
  await picture("hash-sent");
});

test("the page of a collection asks about it, on a phone and in the dark too", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto("/knowledge");
  await page.getByRole("link", { name: "Harbour book" }).click();
  await picture("collection-dark");
  await page.getByRole("button", { name: "Ask about it" }).click();
  await along().getByText("Harbour book").waitFor();
  await picture("phone-dark");
  await check(page, "a collection that goes along, on a phone");
  await page.getByLabel("Message", { exact: true }).pressSequentially("#");
  await page.getByRole("option").first().waitFor();
  await picture("phone-hash");
  await page.keyboard.press("Escape");
  assert.equal(await page.getByRole("option").count(), 0);
  await page.setViewportSize({ width: 1440, height: 900 });
  assert.deepEqual(page.complaints, []);
});
