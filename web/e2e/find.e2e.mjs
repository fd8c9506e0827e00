/** Finding words in a chat: in messages that are not drawn too, with keys alone. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

const MESSAGES = 400;

let browser, server, page, chat;

function messages() {
  return Array.from({ length: MESSAGES }, (_, n) => {
    const isUser = n % 2 === 0;
    const words = [
      `Message ${n} about rivers.`,
      n % 100 === 51 ? "The **wal**rus sings; a Walrus listens." : "",
      n === 120 ? "Ёлка и МОРЕ" : "",
      n === 201
        ? "```\nwalrus in code\n```\n\n<details><summary>More</summary>\n\nhidden أهلا 数据库\n\n</details>"
        : "",
    ];
    return {
      id: `m${n}`,
      parent: n === 0 ? null : `m${n - 1}`,
      role: isUser ? "user" : "assistant",
      content: [{ type: "text", text: words.filter(Boolean).join("\n\n") }],
      created_at: 1_780_000_000_000 + n,
      run: null,
    };
  });
}

test.beforeAll(async () => {
  browser = await launch();
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  chat = server.addChat("A long chat", { messages: messages() });
  page = await openPage(browser, { url: server.url });
  await page.goto(`/c/${chat.id}`);
  await page.getByText(`Message ${MESSAGES - 1} about`).waitFor();
});
test.afterAll(async () => {
  await browser.close();
  await server.close();
});

const field = () => page.getByRole("textbox", { name: "Find in chat" });
const count = () => page.getByRole("search").getByRole("status");
const says = (words) => until(words, async () => (await count().textContent()) === words);
const isFocused = (what) => what.and(page.locator(":focus")).waitFor();

/** The text of the current mark, once it is in view. */
const shown = () =>
  page.evaluate(() => {
    const [range] = CSS.highlights.get("find-current") ?? [];
    if (!range) return "";
    const { top, bottom } = range.getBoundingClientRect();
    return top > 50 && bottom < innerHeight ? range.toString() : "";
  });
const marks = (words) => until(`“${words}” is marked`, async () => (await shown()) === words);

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/find-${name}.png` });
}

test("Ctrl+F finds words in messages that are not drawn", async () => {
  await page.locator("#composer").focus();
  await page.keyboard.press("Control+f");
  // Keys that come while the bar loads are not lost.
  await page.keyboard.type("walrus");
  await hasValue(field(), "walrus");
  await hasValue(page.locator("#composer"), "");
  await isFocused(field());
  await says("1 of 9");
  await marks("walrus");
  assert.equal(await page.evaluate(() => CSS.highlights.get("find-hit").size > 1), true);
  await until("hits at the scroll bar", async () => (await page.locator(".places i").count()) >= 4);
  await picture("light");
  await check(page, "the find bar");
});

test("Enter, Shift+Enter and F3 go on, around the end", async () => {
  await page.keyboard.press("Enter");
  await says("2 of 9");
  await marks("Walrus");
  await page.keyboard.press("Shift+Enter");
  await says("1 of 9");
  await page.keyboard.press("Shift+Enter");
  await says("9 of 9");
  await marks("Walrus");
  await page.keyboard.press("F3");
  await says("1 of 9");
  await page.keyboard.press("Shift+F3");
  await says("9 of 9");
  await page.getByRole("button", { name: "Next result" }).click();
  await says("1 of 9");
  await marks("walrus");
});

test("any script, without regard to case", async () => {
  await field().fill("елка и море");
  await says("1 of 1");
  await marks("Ёлка и МОРЕ");
  await field().fill("数据");
  await says("1 of 1");
  // The details that hide it are opened.
  await marks("数据");
  await field().fill("أهلا");
  await says("1 of 1");
  await marks("أهلا");
  await field().fill("nowhere to be found");
  await says("No results");
  assert.equal(await shown(), "");
});

test("a second Ctrl+F is the browser's, Escape closes and gives the focus back", async () => {
  const fallsThrough = () =>
    page.evaluate(
      () =>
        new Promise((resolve) => {
          addEventListener("keydown", (event) => setTimeout(() => resolve(!event.defaultPrevented)), {
            once: true,
          });
        }),
    );
  const second = fallsThrough();
  await page.keyboard.press("Control+f");
  assert.equal(await second, true);
  await page.keyboard.press("Escape");
  await field().waitFor({ state: "detached" });
  await isFocused(page.locator("#composer"));
  assert.equal(await page.evaluate(() => CSS.highlights.has("find-hit")), false);
  // Once more: it is found by its key's place, on a Russian layout too.
  await page.keyboard.press("Control+f");
  await isFocused(field());
  await hasValue(field(), "");
  await page.keyboard.press("Escape");
});

/** The words marked in the message of a search hit, and whether the first of them is in view. */
const marked = () =>
  page.evaluate(() => {
    const ranges = [...(CSS.highlights.get("find-hit") ?? [])];
    const { top = 0, bottom = 0 } = ranges[0]?.getBoundingClientRect() ?? {};
    const words = ranges.map(String).join(" ");
    return top > 50 && bottom < innerHeight ? words : `${words} out of view`;
  });
const marksAre = (words) => until(`“${words}” are marked`, async () => (await marked()) === words);

test("a search hit marks its words in the message, without a frame", async () => {
  await page.goto(`/c/${chat.id}?message=m51&q=listens+walrus`);
  await marksAre("walrus Walrus listens");
  const turn = page.locator("article[data-turn='51']");
  await turn.and(page.locator(":focus")).waitFor();
  const look = await turn.evaluate((element) => {
    const { outlineStyle, animationName, backgroundColor } = getComputedStyle(element);
    return [outlineStyle, animationName, backgroundColor];
  });
  assert.deepEqual(look, ["none", "none", "rgba(0, 0, 0, 0)"]);
  await page.getByRole("button", { name: "Jump to latest message" }).waitFor();
  await check(page, "a search hit");
  await picture("hit");
  // The find bar has marks of its own, for as long as it is open.
  await page.keyboard.press("Control+f");
  await page.keyboard.type("rivers");
  await until("“rivers” is marked", async () => (await shown()) === "rivers");
  await page.keyboard.press("Escape");
  await until("the words of the hit", async () => (await marked()).startsWith("walrus Walrus listens"));
});

test("a chat that fits the window offers no way to its end", async () => {
  const short = server.addChat("A short chat", { messages: messages().slice(0, 4) });
  await page.goto(`/c/${short.id}?message=m0&q=rivers`);
  await marksAre("rivers");
  assert.equal(await page.getByRole("button", { name: "Jump to latest message" }).count(), 0);
  // Keys that move between the messages show a frame, and offer none either.
  await page.keyboard.press("Alt+ArrowDown");
  const next = page.locator("article[data-turn='1']:focus");
  await next.waitFor();
  assert.equal(await next.evaluate((element) => getComputedStyle(element).outlineStyle), "solid");
  assert.equal(await page.getByRole("button", { name: "Jump to latest message" }).count(), 0);
  await picture("hit-short");
  await page.goto(`/c/${chat.id}`);
  await page.getByText(`Message ${MESSAGES - 1} about`).waitFor();
  await until("no marks", () => page.evaluate(() => !CSS.highlights.has("find-hit")));
});

const outline = () => page.getByRole("button", { name: "Go to message" });
const entry = () => page.locator("[role=menuitem]:focus");

test("the outline of a long chat goes to a message, with keys alone", async () => {
  await page.locator("article[data-turn='399']").waitFor();
  await outline().focus();
  await page.keyboard.press("Enter");
  // The newest message is in view, which is the current one.
  await entry().filter({ hasText: "Message 398 about rivers." }).waitFor();
  assert.equal(await entry().getAttribute("aria-current"), "true");
  await check(page, "the outline");
  await picture("outline");
  await page.keyboard.press("Home");
  await entry().filter({ hasText: "Message 0 about" }).waitFor();
  for (let n = 0; n < 60; n += 1) await page.keyboard.press("ArrowDown");
  await entry().filter({ hasText: "Message 120 about rivers. Ёлка и МОРЕ" }).waitFor();
  await page.keyboard.press("Enter");
  const turn = page.locator("article[data-turn='120']");
  await turn.and(page.locator(":focus")).waitFor();
  await until("it is in view", () =>
    turn.evaluate((element) => {
      const { top } = element.getBoundingClientRect();
      return top > 0 && top < innerHeight / 2;
    }),
  );
  // It is the current one now; Escape closes the list and gives the focus back.
  await outline().click();
  await entry().filter({ hasText: "Message 120 about" }).waitFor();
  await page.keyboard.press("Escape");
  await entry().waitFor({ state: "detached" });
  await outline().and(page.locator(":focus")).waitFor();
});

test("a short chat has no outline", async () => {
  const short = server.addChat("Three questions", { messages: messages().slice(0, 6) });
  await page.goto(`/c/${short.id}`);
  await page.getByText("Message 5 about").waitFor();
  assert.equal(await outline().count(), 0);
  await page.goto(`/c/${chat.id}`);
  await page.getByText(`Message ${MESSAGES - 1} about`).waitFor();
});

test("on a phone, in the dark", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
  await page.keyboard.press("Control+f");
  await page.keyboard.type("walrus");
  await marks("walrus");
  await picture("phone-dark");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.keyboard.press("Escape");
  await outline().click();
  await entry().waitFor();
  await picture("outline-phone-dark");
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.keyboard.press("Escape");
  assert.deepEqual(page.complaints, []);
});
