/** Small comforts of a chat: the focus, copying, long messages, times, code, tables, going on, quoting. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { copiedBy, hasValue, launch, openPage, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

/** A host name that is not this machine's: pages from there have no clipboard API. */
const foreign = "glasshouse.test";

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch([`--host-resolver-rules=MAP ${foreign} 127.0.0.1`]);
});
test.afterAll(() => browser.close());
test.afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.close();
});

async function begin(options = {}, at = "/") {
  server ??= await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  page = await openPage(browser, { url: server.url, ...options });
  await page.goto(at);
  await composer().waitFor();
}

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const composer = () => page.locator("#composer");
const isFocused = (what) => what.and(page.locator(":focus")).waitFor();
async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/comforts-${name}.png` });
}

test.describe("the focus", () => {
  test.beforeEach(async () => {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  });

  test("is in the composer on load, in a new chat and in one that is chosen", async () => {
    server.addChat("Tide tables");
    await begin();
    await isFocused(composer());
    await page.keyboard.type("Typed at once");
    await hasValue(composer(), "Typed at once");
    await page.getByRole("link", { name: "Tide tables" }).click();
    await isFocused(composer());
    await hasValue(composer(), "");
    await page.getByRole("button", { name: "New chat" }).click();
    await isFocused(composer());
    await hasValue(composer(), "Typed at once");
    // Also if the new chat is open already.
    await page.getByRole("button", { name: "New chat" }).click();
    await isFocused(composer());
  });

  test("follows a letter, and leaves fields, menus, dialogs and shortcuts alone", async () => {
    await begin();
    await page.keyboard.press("Escape");
    await page.getByRole("main").click({ position: { x: 30, y: 200 } });
    await page.keyboard.type("Why?");
    await hasValue(composer(), "Why?");
    await page.keyboard.press("Control+a");
    // A letter neither replaces a selection nor is typed where another field is in use.
    await page.getByRole("button", { name: "Close sidebar" }).focus();
    await page.keyboard.type(" 1");
    await hasValue(composer(), "Why?1");
    await page.keyboard.press("Control+k");
    await page.locator("#chat-search:focus").waitFor();
    await page.keyboard.type("tide");
    await hasValue(page.locator("#chat-search"), "tide");
    await page.keyboard.press("Control+/");
    await page.getByRole("dialog").getByText("Outside text fields: start a message").waitFor();
    await check(page, "the list of keys");
    await picture("keys");
    await page.keyboard.type("xyz");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /choose a model/ }).click();
    await page.keyboard.type("xyz");
    await page.keyboard.press("Escape");
    await hasValue(composer(), "Why?1");
  });

  test("a turn's letters work after the keyboard led there, not after a click", async () => {
    await begin();
    await composer().fill("Give me the tour");
    await page.keyboard.press("Enter");
    await page.locator("[data-allow]").click();
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    const steps = page.locator("[data-steps-toggle]");
    const open = () => steps.getAttribute("aria-expanded");
    const before = await open();
    await page.locator("article.assistant .answer p").first().click();
    await page.keyboard.type("expand");
    await hasValue(composer(), "expand");
    assert.equal(await open(), before);
    await page.keyboard.press("Alt+ArrowUp");
    await isFocused(page.locator("article.assistant"));
    await page.keyboard.press("e");
    await until("the steps were toggled", async () => (await open()) !== before);
    await hasValue(composer(), "expand");
  });

  test("is not taken on a touch screen, where it would open the keyboard", async () => {
    await begin(phone);
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    assert.equal(await page.locator("#composer:focus").count(), 0);
  });
});

/** What in these places a finger would miss: controls lower than 44 pixels, or beyond the edge of the page. */
const missedByFinger = (places) =>
  page.evaluate((places) => {
    const controls = places.flatMap((place) => [
      ...document.querySelectorAll(`${place} :is(button, a, select, input:not(.visually-hidden))`),
    ]);
    return controls
      .filter((control) => control.checkVisibility())
      .map((control) => ({ control, box: control.getBoundingClientRect() }))
      .filter(({ box }) => box.height < 44 || box.left < 0 || box.right > innerWidth)
      .map(({ control, box }) => `${control.ariaLabel ?? control.textContent}: ${Math.round(box.height)}`);
  }, places);

test.describe("on a phone", () => {
  let chat;
  const open = (width) => begin({ ...phone, viewport: { width, height: 844 } }, `/c/${chat.id}`);

  test.beforeEach(async () => {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
    const messages = [
      said("msg_1", null, "user", "Which tide is the highest?"),
      said("msg_2", "msg_1", "assistant", "The spring tide."),
      said("msg_3", "msg_1", "assistant", "The one after a new moon."),
    ];
    chat = server.addChat("Tides of the North Sea and of the Channel", { messages });
  });

  test("a new chat is one tap away, and the keyboard stays closed", async () => {
    await open(390);
    await page.getByText("The one after a new moon.").waitFor();
    await page.getByRole("button", { name: "New chat" }).tap();
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await page.waitForURL(server.url + "/");
    assert.equal(await page.locator("#composer:focus").count(), 0);
    // Nothing would happen here.
    assert.equal(await page.getByRole("button", { name: "New chat" }).count(), 0);
  });

  for (const width of [390, 360]) {
    test(`everything has the height of a finger at ${width} pixels, and fits`, async () => {
      await open(width);
      await page.getByText("The one after a new moon.").waitFor();
      await picture(`phone-${width}`);
      assert.deepEqual(await missedByFinger(["header", ".composer", "article"]), []);
      const title = await page.getByRole("heading", { level: 1 }).boundingBox();
      assert.ok(title.width > 70, `the title has ${title.width} pixels`);
      const wide = () => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(await wide(), false);
      await page.getByRole("button", { name: "Open sidebar" }).tap();
      await page.getByRole("link", { name: "Tides of" }).waitFor();
      await picture(`phone-${width}-sidebar`);
      assert.deepEqual(await missedByFinger(["nav"]), []);
      assert.equal(await wide(), false);
    });
  }
});

test("chats are listed by day, then by month", async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  const now = new Date();
  const daysAgo = (days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - days).getTime();
  for (const days of [0, 1, 5, 20]) server.addChat(`${days} days ago`, { updated_at: daysAgo(days) });
  server.addChat("Long ago", { updated_at: new Date(2024, 2, 31).getTime() });
  await begin();
  const headings = page.getByRole("navigation", { name: "Chats" }).getByRole("heading");
  await headings.filter({ hasText: "March 2024" }).waitFor();
  const expected = ["Folders", "Today", "Yesterday", "Previous 7 days", "Previous 30 days", "March 2024"];
  assert.deepEqual(await headings.allInnerTexts(), expected);
  await picture("periods");
});

test("the card of the tour goes with the first answer of a real model; the user menu has it", async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.05 }).listen();
  await begin();
  const card = page.getByRole("list", { name: "Examples" }).getByRole("button", { name: "Take the tour" });
  await card.waitFor();
  await composer().fill("What is a tide?");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).first().waitFor();
  const forGood = async () => {
    await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
    await page.getByRole("button", { name: "Compare in parallel" }).waitFor();
    assert.equal(await card.count(), 0);
  };
  await page.getByRole("button", { name: "New chat" }).click();
  await forGood();
  await page.reload();
  await forGood();
  await page.getByRole("button", { name: "Ada Lovelace: account and settings" }).click();
  await page.getByRole("button", { name: "Take the tour" }).click();
  await page.getByText("Give me the tour").first().waitFor();
  await page.waitForURL(/\/c\/chat_/);
});

test("the card of the tour can be hidden; the user menu keeps the tour", async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.05 }).listen();
  await begin();
  const cards = page.getByRole("list", { name: "Examples" });
  await cards.getByRole("button", { name: "Hide the tour" }).click();
  await page.getByText("The tour is still in your account menu.").waitFor();
  await cards.getByRole("button", { name: "Take the tour" }).waitFor({ state: "detached" });
  await page.reload();
  await cards.getByRole("button", { name: "Compare in parallel" }).waitFor();
  assert.equal(await cards.getByRole("button", { name: /tour/ }).count(), 0);
  await page.getByRole("button", { name: "Ada Lovelace: account and settings" }).click();
  await page.getByRole("button", { name: "Take the tour" }).waitFor();
});

test("with the sidebar closed, a new chat is one click away", async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  const chat = server.addChat("Tide tables");
  await begin({}, `/c/${chat.id}`);
  const pencil = page.locator("header").getByRole("button", { name: "New chat" });
  assert.equal(await pencil.count(), 0);
  await page.keyboard.press("Control+b");
  await pencil.click();
  await page.getByRole("heading", { name: "What can I help with?" }).waitFor();
  await isFocused(composer());
});

const said = (id, parent, role, text, at = Date.now()) => ({
  ...{ id, parent, role, created_at: at },
  content: [{ type: "text", text }],
});

test.describe("messages", () => {
  const long = Array.from({ length: 60 }, (_, line) => `line ${line + 1} of the question`).join("\n");
  const yesterday = Date.now() - 86_400_000;

  test.beforeEach(async () => {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
    const messages = [
      said("msg_1", null, "user", long, yesterday),
      said("msg_2", "msg_1", "assistant", "First answer.", yesterday),
      said("msg_3", "msg_2", "user", "And then?"),
      said("msg_4", "msg_3", "assistant", "Second answer."),
    ];
    const chat = server.addChat("Long questions", { messages });
    await begin({}, `/c/${chat.id}`);
  });

  const bubble = () => page.locator(".bubble").first();
  const height = () => bubble().evaluate((element) => element.offsetHeight);

  test("a long one is folded, unfolds by keyboard, and where the browser finds a word in it", async () => {
    const more = page.getByRole("button", { name: "Show more" });
    await more.waitFor();
    assert.ok((await height()) < 320, `${await height()}`);
    await check(page, "a folded message");
    await picture("folded");
    await more.press("Enter");
    await until("it is unfolded", async () => (await height()) > 1200);
    await page.getByRole("button", { name: "Show less" }).press("Enter");
    await until("it is folded", async () => (await height()) < 320);
    const found = await bubble().evaluate((element) => {
      getSelection().collapse(element, 0);
      return window.find("line 9 of");
    });
    assert.equal(found, true);
    // The browser's dialog scrolls to what is hidden; this function does not.
    await bubble().evaluate((element) => (element.scrollTop = 400));
    await until("it is unfolded", async () => (await height()) > 1200);
    assert.equal((await bubble().innerText()).trim(), long);
  });

  test("each has its time, with the whole date as its title", async () => {
    const times = page.locator("article time");
    await times.nth(3).waitFor();
    assert.equal(await times.count(), 4);
    const words = await times.allInnerTexts();
    const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
    assert.ok(words[0].startsWith(day.format(yesterday)), words[0]);
    assert.match(words[3], /^\d+:\d\d\s[AP]M$/);
    const { datetime, title } = await times
      .last()
      .evaluate((time) => ({ datetime: time.dateTime, title: time.title }));
    assert.ok(Math.abs(Date.parse(datetime) - Date.now()) < 60_000);
    assert.match(title, /day, .* at /);
    const opacity = () => times.nth(2).evaluate((time) => getComputedStyle(time.parentElement).opacity);
    await page.mouse.move(0, 0);
    await until("it is hidden", async () => (await opacity()) === "0");
    await page.locator("article.user").last().hover();
    await until("it is shown", async () => (await opacity()) === "1");
    await picture("times");
  });

  test("on a touch screen times are always shown, in the page's language", async () => {
    await page.context().close();
    const [chat] = server.chats.keys();
    await begin({ ...phone, preferences: { language: "ru", theme: "dark" } }, `/c/${chat}`);
    await page.getByRole("button", { name: "Показать полностью" }).waitFor();
    const own = page.locator("article.user time").first();
    assert.equal(await own.evaluate((time) => getComputedStyle(time.parentElement).opacity), "1");
    assert.match(await own.innerText(), /г\., \d\d:\d\d$/);
    await check(page, "times on a phone");
    await picture("phone-dark");
    await page.getByRole("log").evaluate((log) => (log.scrollTop = 0));
    await picture("phone-dark-folded");
  });
});

test.describe("going on", () => {
  test.beforeEach(async () => {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
    await begin();
  });
  const say = async (text) => {
    await composer().fill(text);
    await page.keyboard.press("Enter");
  };
  const regenerate = () => page.getByRole("button", { name: "Regenerate", exact: true }).last();
  const runs = () => [...server.runs.values()];

  test("a stopped answer is continued with a button, in a turn of its own", async () => {
    await say("count");
    await page.getByText(/word40\b/).waitFor();
    await page.locator("[data-stop]").click();
    await page.getByText("You stopped this answer.").waitFor();
    await check(page, "a stopped answer");
    await picture("stopped");
    await page.getByRole("button", { name: "Continue", exact: true }).press("Enter");
    await page.locator("article.user").getByText("Continue.", { exact: true }).waitFor();
    await page.getByText("You said: Continue.").waitFor();
    const [chat] = server.chats.values();
    assert.deepEqual(
      chat.messages.map(({ role, parent }) => [role, parent]),
      chat.messages.map(({ role }, place) => [role, chat.messages[place - 1]?.id ?? null]),
    );
    assert.equal(await page.getByRole("button", { name: "Continue", exact: true }).count(), 0);
  });

  test("an answer is given again by another model, which is not chosen for the chat", async () => {
    await say("first words");
    await regenerate().waitFor();
    const menu = page.getByRole("button", { name: "Answer with another model" });
    await menu.press("Enter");
    const list = page.getByRole("dialog", { name: "Answer with another model" });
    await list.getByRole("button", { name: "qwen3-30b", pressed: true }).waitFor();
    await check(page, "models to regenerate with");
    await picture("regenerate");
    await list.getByRole("button", { name: "llama-3.3-70b" }).press("Enter");
    await page.getByRole("img", { name: "Version 2 of 2" }).waitFor();
    await regenerate().waitFor();
    assert.deepEqual(
      runs().map(({ model }) => model),
      ["qwen3-30b", "llama-3.3-70b"],
    );
    await page.locator(".facts").getByText("llama-3.3-70b").waitFor();
    await page.getByRole("button", { name: "qwen3-30b: choose a model" }).waitFor();
  });
});

test.describe("code and tables", () => {
  const line = `print("${"a long line ".repeat(30)}")`;
  const answer = [
    "Look:\n\n```python\n" + line + "\n```",
    "1. Nested:\n\n   ```sh\n   echo nested\n   ```",
    '| Name | Price |\n| --- | ---: |\n| A, **B** | $x^2$ |\n| says "no" | `a\\|b` |',
  ].join("\n\n");

  async function open(options = {}) {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
    const messages = [said("msg_q", null, "user", "How?"), said("msg_a", "msg_q", "assistant", answer)];
    const chat = server.addChat("Code", { messages });
    await begin(options, `/c/${chat.id}`);
    await page.locator(".katex").waitFor();
  }
  const block = (place) => page.locator(".md-code").nth(place);
  const button = (where, name) => where.getByRole("button", { name, exact: true });
  const opacity = (what) => what.evaluate((element) => getComputedStyle(element).opacity);

  test("lines of code are wrapped in all blocks, and the choice is remembered", async () => {
    await open();
    const width = (place) =>
      block(place)
        .locator("pre")
        .evaluate((pre) => pre.scrollWidth - pre.clientWidth);
    const wrap = button(block(0), "Wrap lines");
    await page.mouse.move(0, 0);
    await until("it is hidden", async () => (await opacity(wrap)) === "0");
    assert.equal(await opacity(button(block(0), "Copy")), "1");
    assert.ok((await width(0)) > 100);
    await wrap.press("Enter");
    await until("it is shown while it has the focus", async () => (await opacity(wrap)) === "1");
    assert.equal(await wrap.getAttribute("aria-pressed"), "true");
    assert.equal(await button(block(1), "Wrap lines").getAttribute("aria-pressed"), "true");
    assert.equal(await width(0), 0);
    await check(page, "wrapped code");
    await picture("wrapped");
    await page.reload();
    await page.locator(".md-wrap").waitFor();
    await button(block(1), "Wrap lines").press("Enter");
    assert.equal(await button(block(0), "Wrap lines").getAttribute("aria-pressed"), "false");
  });

  test("code is downloaded with the name of its language", async () => {
    await open();
    for (const [place, name, text] of [
      [0, "code.py", line],
      [1, "code.sh", "echo nested"],
    ]) {
      const download = page.waitForEvent("download");
      await button(block(place), "Download").press("Enter");
      const file = await download;
      assert.equal(file.suggestedFilename(), name);
      assert.equal((await readFile(await file.path(), "utf8")).trimEnd(), text);
    }
  });

  test("a table is copied as CSV and as Markdown", async () => {
    await open();
    const table = page.locator(".md-tablebox");
    await table.hover();
    await picture("table");
    const csv = await copiedBy(button(table, "Copy as CSV"));
    assert.equal(csv, 'Name,Price\r\n"A, B",x^2\r\n"says ""no""",a|b\r\n');
    await button(table, "Copied").waitFor();
    const markdown = await copiedBy(button(table, "Copy as Markdown"));
    assert.equal(markdown.trimEnd(), answer.slice(answer.indexOf("| Name")));
    await button(table, "Copy as CSV").waitFor();
  });

  test("on a touch screen the buttons are always there", async () => {
    await open({ ...phone, preferences: { language: "ru", theme: "dark" } });
    assert.equal(await opacity(button(block(0), "Скачать")), "1");
    assert.equal(await opacity(page.getByRole("button", { name: "Копировать как CSV" })), "1");
    await check(page, "code and a table on a phone");
    await picture("code-phone-dark");
  });
});

test.describe("quoting", () => {
  const answer =
    "The **first** paragraph.\n\n- one\n- two with $x^2$\n\n```js\nlet a;\nlet b;\n```\n\nThe last paragraph.";
  const quote = () => page.getByRole("button", { name: "Quote", exact: true });

  async function open(options = {}) {
    server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
    const messages = [
      said("msg_q", null, "user", "My own question"),
      said("msg_a", "msg_q", "assistant", answer),
    ];
    const chat = server.addChat("Quotes", { messages });
    await begin(options, `/c/${chat.id}`);
    await page.locator(".katex").waitFor();
  }

  test("a selection goes into the composer below the draft, by pointer", async () => {
    await open();
    await composer().fill("Is that so?");
    // A triple click selects the paragraph.
    await page.getByText("The first paragraph.").click({ clickCount: 3 });
    await quote().waitFor();
    await check(page, "a selection that can be quoted");
    await picture("quote");
    await quote().click();
    await hasValue(composer(), "Is that so?\n\n> The first paragraph.\n\n");
    await isFocused(composer());
    assert.equal(await quote().count(), 0);
    await page.keyboard.type("Why");
    await page.getByText("The last paragraph.").click({ clickCount: 3 });
    await quote().click();
    await hasValue(composer(), "Is that so?\n\n> The first paragraph.\n\nWhy\n\n> The last paragraph.\n\n");
    await page.keyboard.press("Control+z");
    await hasValue(composer(), "Is that so?\n\n> The first paragraph.\n\nWhy");
  });

  test("the whole answer is quoted by keyboard, without its buttons and with its formulas", async () => {
    await open();
    await page.locator(".answer").evaluate((element) => getSelection().selectAllChildren(element));
    await quote().waitFor();
    await page.keyboard.press("Control+Shift+Period");
    await isFocused(composer());
    const lines = (await composer().inputValue()).trimEnd().split("\n");
    assert.ok(lines.every((line) => line.startsWith(">")));
    assert.deepEqual(
      lines.filter((line) => line !== ">"),
      [
        "> The first paragraph.",
        "> one",
        "> two with $x^2$",
        "> let a;",
        "> let b;",
        "> The last paragraph.",
      ],
    );
  });

  test("the button is reached with Tab; own messages have none", async () => {
    await open({ ...phone, preferences: { language: "ru", theme: "dark" } });
    const russian = page.getByRole("button", { name: "Цитировать", exact: true });
    await page.locator(".bubble").evaluate((element) => getSelection().selectAllChildren(element));
    await page.waitForTimeout(100);
    assert.equal(await russian.count(), 0);
    await page
      .getByText("The last paragraph.")
      .evaluate((element) => getSelection().selectAllChildren(element));
    await russian.waitFor();
    await check(page, "a selection on a phone");
    await picture("quote-phone-dark");
    for (let tab = 0; tab < 20 && !(await russian.and(page.locator(":focus")).count()); tab += 1) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await hasValue(composer(), "> The last paragraph.\n\n");
  });
});

test("copying works on a page over plain HTTP, and a refusal is shown", async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  const url = server.url.replace("127.0.0.1", foreign);
  const chat = server.addChat("Over HTTP", {
    messages: [
      said("msg_q", null, "user", "How?"),
      said("msg_a", "msg_q", "assistant", "So:\n\n```python\nprint('a')\n```"),
    ],
  });
  await begin({ url }, `/c/${chat.id}`);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  const pasted = async () => {
    await composer().fill("");
    await composer().press("Control+v");
    return until("something was pasted", () => composer().inputValue());
  };
  await page.locator(".md-bar").getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await pasted(), "print('a')");
  const copyAnswer = page.getByRole("button", { name: "Copy answer" });
  await copyAnswer.press("Enter");
  await isFocused(copyAnswer);
  assert.equal(await pasted(), "So:\n\n```python\nprint('a')\n```");
  await page.evaluate(() => (document.execCommand = () => false));
  await copyAnswer.click();
  await page.getByText("Couldn’t copy: the browser blocked it.").first().waitFor();
});
