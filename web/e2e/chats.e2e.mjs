/** Finding and organizing chats with the real program: search, folders, pins, tags, archive, bulk actions, export. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { callApi, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

const picture = async (name) => {
  if (process.env.E2E_PICTURES) {
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `${name}.png`) });
  }
};

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  page = await openPage(browser, { url: glasshouse.url, preferences: { theme: "light" } });
  await setUp(page);
  for (const title of ["Приливы и отливы", "Rust ownership", "Trip to 京都", "Old notes", "Older notes"]) {
    await api("post", "/chats", { title });
  }
  await page.goto("/");
  await page.locator("#composer").fill("Show me how Glasshouse works");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.getByRole("button", { name: "Regenerate" }).first().waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

const api = (method, path, data) => callApi(page, glasshouse.url, method, path, data);

const nav = () => page.getByRole("navigation", { name: "Chats" });
const row = (title) =>
  nav()
    .locator("li", { has: page.locator(`.title:text-is("${title}")`) })
    .last();

async function choose(title, item) {
  await row(title).hover();
  await row(title)
    .getByRole("button", { name: `Actions for “${title}”` })
    .click();
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** Messages are indexed for search with a short delay. */
async function untilFound(query) {
  await until(`${query} is found`, async () => {
    const found = await api("get", `/chats/search?query=${encodeURIComponent(query)}`);
    return found.hits.some((hit) => hit.tool);
  });
}

/** Waits until the element is in view, and the page and its scroll containers have come to rest. */
async function inView(place) {
  await place.waitFor();
  const isSeen = (element) =>
    new Promise((resolve) =>
      new IntersectionObserver(([seen]) => resolve(seen.isIntersecting)).observe(element),
    );
  let seen = 0;
  await until("it rests in view", async () => {
    seen = (await place.evaluate(isSeen)) ? seen + 1 : 0;
    return seen >= 10;
  });
}

test("what was said is found, in a tool's answer too, and opened where it stands", async () => {
  await untilFound("rain");
  await page.keyboard.press("Control+k");
  await page.locator("#chat-search").fill("прилив");
  await nav().locator("mark", { hasText: "Приливы" }).waitFor();
  await page.locator("#chat-search").fill("京");
  await nav().locator("mark", { hasText: "京" }).waitFor();
  await page.locator("#chat-search").fill("rain");
  const hits = nav().locator("a", { has: page.locator("mark") });
  await hits.first().waitFor();
  await check(page, "the search");
  await picture("chats-search");
  await page.evaluate(() => document.querySelector(".thread").scrollTo(0, 0));
  const answer = hits.filter({ hasText: "Answer" }).first();
  await answer.press("Enter");
  await page.waitForURL(/message=msg_/);
  await until("the words are marked in the answer", () =>
    page.evaluate(() => {
      const [range] = CSS.highlights.get("find-hit") ?? [];
      const turn = range?.startContainer.parentElement.closest("article.assistant");
      return turn === document.activeElement && /^rain/i.test(range.toString());
    }),
  );
  assert.equal(
    await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle),
    "none",
    "the marks show where it is, no frame",
  );
  await picture("chats-search-marks");
  // A hit in a tool result: its steps are expanded, including those of a sub-agent, and the words are highlighted.
  for (const [tool, query] of [
    ["read_file", "rain"],
    ["task", "wettest"],
  ]) {
    await page.locator("#chat-search").fill(query);
    // Not one for the words before.
    const found = hits.filter({ has: page.locator("mark", { hasText: new RegExp(query, "i") }) });
    const ofTool = found.filter({ has: page.getByText(tool) });
    await ofTool.first().press("Enter");
    await page.waitForURL((address) => address.search.toLowerCase().includes(`q=${query}`));
    await inView(page.locator("li.found mark").first());
    await picture(`chats-search-${tool}`);
  }
  // Also in a small window that has not loaded the chat yet.
  const { cookies } = await page.context().storageState();
  const phone = await openPage(browser, {
    url: glasshouse.url,
    storageState: { cookies, origins: [] },
    viewport: { width: 390, height: 844 },
    preferences: { language: "ru", theme: "dark" },
  });
  await phone.goto(page.url());
  await inView(phone.locator("li.found mark").first());
  if (process.env.E2E_PICTURES) {
    await phone.screenshot({ path: join(process.env.E2E_PICTURES, "chats-search-phone.png") });
  }
  assert.deepEqual(phone.complaints, []);
  await phone.context().close();
  // Enter opens the first result, even before the results for the latest input have arrived.
  await page.locator("#chat-search").fill("ownership");
  await page.locator("#chat-search").press("Enter");
  await page.locator("header").getByText("Rust ownership").waitFor();
  await page.locator("#chat-search").press("ArrowDown");
  assert.equal(
    await nav()
      .locator(".list a")
      .first()
      .evaluate((link) => link === document.activeElement),
    true,
  );
  await page.goBack();
  await nav().getByRole("button", { name: "Clear search" }).click();
  await nav().getByRole("heading", { name: "Titles" }).waitFor({ state: "detached" });
});

test("chats are pinned, filed, tagged and put away", async () => {
  await choose("Rust ownership", "Pin");
  await nav().getByRole("heading", { name: "Pinned" }).waitFor();
  await choose("Trip to 京都", "Move to folder");
  const dialog = page.getByRole("dialog", { name: "Move to folder" });
  await dialog.getByLabel("New folder").fill("Japan");
  await check(page, "the dialog of folders");
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "detached" });
  await nav().getByRole("button", { name: "Japan" }).first().click();
  await row("Trip to 京都").waitFor();

  await choose("Приливы и отливы", "Tags");
  const tags = page.getByRole("dialog", { name: "Tags" });
  await tags.getByLabel("Tags, separated by commas").fill("Sea, Наука");
  await check(page, "the dialog of tags");
  await tags.getByRole("button", { name: "Save" }).click();
  await tags.waitFor({ state: "detached" });
  await nav().getByRole("button", { name: "Tags", exact: true }).click();
  await page.getByRole("menuitem", { name: "наука 1" }).click();
  await nav().getByRole("heading", { name: "Tag: наука" }).waitFor();
  await row("Приливы и отливы").waitFor();
  assert.equal(await nav().locator(".list a").count(), 1);
  await nav().getByRole("button", { name: "All chats" }).click();

  await choose("Old notes", "Archive");
  await row("Old notes").waitFor({ state: "detached" });
  await check(page, "the sidebar with all of it");
  await picture("chats-order");
  await nav().getByRole("button", { name: "Archive" }).click();
  await row("Old notes").waitFor();
  await choose("Old notes", "Unarchive");
  await nav().getByText("No archived chats").waitFor();
  await nav().getByRole("button", { name: "All chats" }).click();
});

test("a folder is made in the sidebar, and a chat is dragged onto it", async () => {
  const add = nav().getByRole("button", { name: "New folder" });
  const name = nav().getByRole("textbox", { name: "Folder name" });
  await add.click();
  await page.keyboard.type("Oce");
  await check(page, "the name of a new folder");
  // Escape closes the field and keeps what is in it.
  await page.keyboard.press("Escape");
  await name.waitFor({ state: "detached" });
  await page.keyboard.press("Enter");
  assert.equal(await name.inputValue(), "Oce");
  await page.keyboard.press("End");
  await page.keyboard.type("ans");
  await page.keyboard.press("Enter");
  const folder = nav().getByRole("button", { name: "Oceans", exact: false }).first();
  await folder.waitFor();
  await name.waitFor({ state: "detached" });
  assert.equal((await api("get", "/folders")).folders.filter((one) => one.name === "Oceans").length, 1);

  const chat = row("Приливы и отливы");
  await chat.locator("a").hover();
  await page.mouse.down();
  await folder.hover();
  await folder.hover();
  await nav().locator("li.target").waitFor();
  await picture("chats-drag");
  await page.mouse.up();
  await nav().locator("li.target").waitFor({ state: "detached" });
  await until("it is in the folder", async () => {
    const { chats } = await api("get", "/chats");
    return chats.find(({ title }) => title === "Приливы и отливы").folder !== null;
  });
  await chat.waitFor({ state: "detached" });
  await folder.click();
  await chat.waitFor();
  // A click after the drag opens the chat as ever.
  await chat.locator("a").click();
  await page.locator("header").getByText("Приливы и отливы").waitFor();
  await page.goBack();
  await page.locator("header").getByText("Show me how Glasshouse works").waitFor();
});

test("many are deleted at once, after a question that counts", async () => {
  await choose("Old notes", "Select chats");
  await nav().getByLabel("Select “Older notes”").check();
  await nav().getByText("2 selected").waitFor();
  await check(page, "a selection");
  await picture("chats-selection");
  await nav().getByRole("button", { name: "Delete", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Delete" });
  await question.getByText("Delete 2 chats?").waitFor();
  await question.getByRole("button", { name: "Delete" }).click();
  await row("Old notes").waitFor({ state: "detached" });
  assert.equal(await row("Older notes").count(), 0);
  assert.equal((await api("get", "/chats")).chats.length, 4);
});

test("a chat is taken along to read, to print and to import", async () => {
  const open = () => page.getByRole("button", { name: "Export chat" }).click();
  await open();
  await picture("chats-export");
  let [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Markdown" }).click(),
  ]);
  const text = await readFile(await download.path(), "utf8");
  assert.match(text, /^# Show me how Glasshouse works\n\n## You\n\n\*.+\*\n\nShow me/);
  assert.match(text, /<details>\n<summary>\d+ steps<\/summary>/);
  assert.match(text, /October/);
  await open();
  [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "JSON (for import)" }).click(),
  ]);
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  assert.deepEqual(Object.keys(JSON.parse(lines[0])), ["glasshouse_export"]);
  assert.deepEqual(Object.keys(JSON.parse(lines.at(-1))), ["end"]);
  // The browser's print dialog is not part of the page.
  await page.evaluate(
    () => (window.print = () => (window.printed = document.querySelector(".print-sheet").innerText)),
  );
  await open();
  await page.getByRole("menuitem", { name: "PDF" }).click();
  await page.waitForFunction(() => window.printed !== undefined);
  assert.equal(await page.locator(".print-sheet h1", { hasText: "Show me how Glasshouse works" }).count(), 1);
  // Print output has no folds, since they cannot be expanded.
  assert.doesNotMatch(await page.locator(".print-sheet").textContent(), /<\/?(details|summary)>/);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator(".print-sheet").count(), 0);
});
