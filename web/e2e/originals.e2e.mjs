/** Citations of documents with the real program: the original opened at its page or row, with the passage marked. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  {
    contains: "months before the end of a quarter",
    turns: [turn(text("Two months before the end of a quarter [1]."))],
  },
  { contains: "Walrus food", turns: [turn(text("It costs 412 euros [1]."))] },
  { contains: "", turns: [turn(text("I do not know."))] },
];

let browser, model, glasshouse, page, collection;

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

const LONG = "The house stands by the harbour and has been let to sailors since the old days of the town. ";
const NOTICE =
  "Either party ends the lease in writ&shy;ing, at the lat&shy;est two months before the end of a quarter; the ofﬁce of the landlord confirms it.";

/** A PDF of three pages, as the browser prints it: columns with hyphens and a ligature, and Arabic at the end. */
async function leasePdf() {
  const context = await browser.newContext();
  const paper = await context.newPage();
  await paper.setContent(`<!doctype html><html lang="en"><title>Lease</title>
    <style>
      section { break-after: page; font: 14px/1.5 sans-serif }
      .columns { columns: 2; column-gap: 40px; hyphens: manual }
    </style>
    <section><h1>Lease</h1><p>${LONG.repeat(30)}</p></section>
    <section><h2>Notice</h2><div class="columns"><p>${LONG.repeat(8)}</p><p>${NOTICE}</p><p>${LONG.repeat(8)}</p></div></section>
    <section lang="ar" dir="rtl"><h2>مدة العقد</h2><p>${"مدة هذا العقد ثلاث سنوات ميلادية تبدأ من تاريخ التوقيع عليه. ".repeat(20)}</p></section>`);
  const pdf = await paper.pdf({ format: "A4" });
  await context.close();
  return pdf;
}

const prices = [
  "Item,Price",
  ...Array.from(
    { length: 90 },
    (_, row) => `Rope number ${row + 1} for a boat in the harbour,${row + 10} euros`,
  ),
];
prices.splice(60, 0, "Walrus food for one winter,412 euros");

const documents = async () =>
  (await (await page.request.get(`/api/v1/knowledge/${collection}/documents`)).json()).documents;
const documentOf = async (name) => (await documents()).find((one) => one.name === name);

async function put(name, content) {
  const address = `/api/v1/knowledge/${collection}/documents?name=${encodeURIComponent(name)}`;
  const answer = await page.request.post(address, { data: Buffer.from(content) });
  assert.ok(answer.ok(), await answer.text());
  await until(`${name} is read`, async () => (await documentOf(name))?.state !== "waiting");
}

async function pictures(on, name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  for (const [size, viewport] of Object.entries({
    wide: { width: 1440, height: 900 },
    phone: { width: 390, height: 844 },
  })) {
    await on.setViewportSize(viewport);
    for (const colorScheme of ["dark", "light"]) {
      await on.emulateMedia({ colorScheme });
      await on.waitForTimeout(400);
      await on.screenshot({ path: `${folder}/originals-${name}-${size}-${colorScheme}.png` });
    }
  }
  await on.setViewportSize({ width: 1440, height: 900 });
}

/** Asks about the collection, and opens the first citation of the answer. */
async function openCited(question) {
  await page.goto(`/knowledge/${collection}`);
  await page.getByRole("button", { name: "Ask about it" }).click();
  await page.getByLabel("Message", { exact: true }).fill(question);
  await page.getByRole("button", { name: "Send", exact: true }).and(page.locator(":enabled")).click();
  const cited = page.locator("[data-cite]").first();
  await cited.waitFor();
  await page.getByRole("button", { name: /^Sources/ }).waitFor();
  const [opened] = await Promise.all([page.context().waitForEvent("page"), cited.click()]);
  opened.complaints = [];
  opened.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) opened.complaints.push(message.text());
  });
  return opened;
}

const isInView = (locator) =>
  locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });

test("a citation opens the PDF at its page, with the passage marked", async () => {
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Lease" } });
  collection = (await made.json()).id;
  await put("lease.pdf", await leasePdf());
  const opened = await openCited("How is the lease ended?");
  const second = opened.locator('[data-page="2"]');
  await second.locator("mark").first().waitFor();
  const marked = (await second.locator("mark").allInnerTexts()).join("").replace(/[\s\u00ad-]/g, "");
  assert.match(marked, /Eitherpartyendstheleaseinwriting,atthelatesttwomonthsbeforetheendofaquarter/);
  await until("the mark is in view", () => isInView(second.locator("mark").first()));
  const number = opened.getByRole("textbox", { name: "Page number" });
  await until("the page is named", async () => (await number.inputValue()) === "2");
  await opened.getByText("of 3", { exact: true }).waitFor();
  // The page is drawn, not only its text.
  const isDrawn = second.locator("canvas").evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.some((value, place) => place % 4 === 0 && value < 128);
  });
  assert.ok(await isDrawn);
  await check(opened, "a PDF at a passage");
  await pictures(opened, "pdf");
  assert.deepEqual(opened.complaints, []);

  await opened.getByRole("button", { name: "Next page" }).press("Enter");
  await opened.locator('[data-page="3"] canvas').waitFor();
  await until("the next page is named", async () => (await number.inputValue()) === "3");
  assert.ok(await opened.getByRole("button", { name: "Next page" }).isDisabled());
  await number.fill("1");
  await number.press("Enter");
  await opened.locator('[data-page="1"] canvas').waitFor();
  await until("the first page is in view", () =>
    opened.locator('[data-page="1"] canvas').evaluate((one) => one.getBoundingClientRect().top >= 0),
  );
  const widthOf = () => opened.locator('[data-page="1"]').evaluate((sheet) => sheet.offsetWidth);
  const fits = await widthOf();
  await opened.getByRole("button", { name: "Zoom in" }).click();
  await until("it is larger", async () => (await widthOf()) > fits * 1.2);
  await opened.getByRole("button", { name: "Fit width" }).click();
  await until("it fits", async () => (await widthOf()) === fits);

  await opened.getByRole("tab", { name: "Original" }).press("ArrowRight");
  await opened.locator("article mark").first().waitFor();
  assert.match(
    (await opened.locator("article mark").allInnerTexts()).join(" "),
    /two\smonths before the end of a quarter/,
  );
  await opened.getByText("Page 2", { exact: true }).first().waitFor();
  await pictures(opened, "pdf-text");
  await opened.close();
});

test("a citation of a table opens it at the row", async () => {
  await put("prices.csv", prices.join("\n"));
  const opened = await openCited("What does Walrus food cost?");
  const row = opened.locator("tr", { hasText: "Walrus food for one winter" });
  await row.waitFor();
  await until("the row is marked", () => row.evaluate((one) => one.classList.contains("found-row")));
  assert.deepEqual(await row.locator("mark").allInnerTexts(), ["Walrus food for one winter", "412 euros"]);
  await until("the passage is in view", () => isInView(opened.locator("article mark").first()));
  assert.equal(await opened.locator("tr", { hasText: "Rope number 1 for" }).locator("mark").count(), 0);
  await opened.getByRole("link", { name: "Download original" }).waitFor();
  await check(opened, "a table at a row");
  await pictures(opened, "table");
  await opened.close();
});

test("a PDF that cannot be drawn says so", async () => {
  await put("broken.pdf", "%PDF-1.7\nnothing of it is here");
  const { id } = await documentOf("broken.pdf");
  await page.goto(`/knowledge/${collection}/${id}`);
  await page.getByText("This PDF could not be displayed.").waitFor();
});

test("in Arabic the PDF has its tools on the other side, and Markdown is rendered", async () => {
  await put(
    "notes.md",
    `# Notes\n\n${"Nothing of it.\n\n".repeat(40)}## Walrus\n\nThe **walrus** sings at [night](https://example.org/song).\n\n1. It is *loud*.\n2. It is early.\n`,
  );
  const { id } = await documentOf("notes.md");
  const { text: words } = await (
    await page.request.get(`/api/v1/knowledge/${collection}/documents/${id}`)
  ).json();
  const [from, to] = [words.indexOf("The **walrus**"), words.indexOf("2. It is early") - 1];
  await page.goto(`/knowledge/${collection}/${id}?from=${from}&to=${to}`);
  const article = page.getByRole("article");
  await article.locator("mark").first().waitFor();
  assert.equal(
    (await article.locator("mark").allTextContents()).join("|"),
    "The |walrus| sings at |night|.|It is |loud",
  );
  await page.getByText("Notes › Walrus", { exact: true }).waitFor();
  await check(page, "Markdown at a passage");
  await pictures(page, "markdown");

  // The browser writes Arabic from left to right, letter by letter.
  const sentence = "مدة هذا العقد ثلاث سنوات ميلادية تبدأ من تاريخ التوقيع عليه.";
  const pdf = await documentOf("lease.pdf");
  const { text: lease } = await (
    await page.request.get(`/api/v1/knowledge/${collection}/documents/${pdf.id}`)
  ).json();
  const start = lease.indexOf(sentence);
  await page.goto(`/knowledge/${collection}/${pdf.id}?from=${start}&to=${start + sentence.length}`);
  await page.locator('[data-page="3"] mark').first().waitFor();
  const letters = (await page.locator('[data-page="3"] mark').allTextContents()).join("").normalize("NFKC");
  const sorted = (text) => [...text.replace(/[^\p{L}]/gu, "")].sort().join("");
  assert.equal(sorted(letters), sorted(sentence));

  const other = await openPage(browser, {
    url: glasshouse.url,
    locale: "ar",
    storageState: { cookies: await page.context().cookies(), origins: [] },
  });
  await other.goto(`/knowledge/${collection}/${pdf.id}`);
  await other.locator('[data-page="1"] canvas').waitFor();
  const [previous, larger] = [
    other.getByRole("button", { name: "الصفحة السابقة" }),
    other.getByRole("button", { name: "تكبير" }),
  ];
  const leftOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().left);
  assert.ok((await leftOf(previous)) > (await leftOf(larger)));
  await check(other, "a PDF in Arabic");
  await pictures(other, "arabic");
  assert.deepEqual(other.complaints, []);
  await other.context().close();
});
