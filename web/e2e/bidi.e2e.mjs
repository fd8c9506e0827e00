/**
 * Arabic and Hebrew in the page: answers as they stream, messages, the composer, titles, tables; and a page that is
 * itself laid out from right to left.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { texts } from "./fake/scripts.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };

// The words of the case md-rtl, which the page once showed from left to right, and more.
const ARABIC = `# مرحبا بالعالم

هذا نص عربي طويل مع كلمة English في الوسط، وينتهي بنقطة. هل هذا صحيح؟

\`git status\` يعرض حالة المستودع، انظر https://example.org/a.

- العنصر الأول (1)
- العنصر الثاني: \`code()\`
- English item (third).
  - عنصر داخلي

1. واحد
2. اثنان

- [x] مهمة منجزة

> اقتباس هنا.

| الاسم | السعر |
|---|---:|
| تفاح | 5 |
| Pear (green) | 12 |

\`\`\`js
const مرحبا = "عالم"; // تعليق
\`\`\`

والصيغة $a < b$ صحيحة.

English paragraph with عربي inside.
`;
const HEBREW = `## שלום עולם!

זהו טקסט בעברית, עם סימן שאלה?

1. פריט ראשון
2. פריט שני (API)

| שם | Price |
|---|---|
| תפוח | 5 |

\`\`\`
let x = 1;
\`\`\`

An English paragraph.
`;
texts.set("arabic", ARABIC);
texts.set("hebrew", HEBREW);
texts.set("english", "| Word | Meaning |\n|---|---|\n| שלום (a) | peace |\n\n- one\n- שתיים (2)\n");

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch();
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  page = await openPage(browser, { url: server.url, viewport: DESKTOP });
  await page.goto("/");
});
test.afterAll(async () => {
  assert.deepEqual(page.complaints, []);
  await browser.close();
  await server.close();
});

const box = () => page.getByRole("textbox", { name: "Message" });
const answer = () => page.locator("article.assistant .answer").last();

async function say(text) {
  await box().fill(text);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
}

/** Where the characters of the element's text stand, by the text. */
const edgesOf = (locator) =>
  locator.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const { left, right } = range.getBoundingClientRect();
    return { left, right };
  });
const directionOf = (locator) => locator.evaluate((element) => getComputedStyle(element).direction);
const boxOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().toJSON());
/** The horizontal middle of a piece of the element's text. */
const middleOf = (locator, words) =>
  locator.evaluate((element, wanted) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(wanted);
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      const { left, right } = range.getBoundingClientRect();
      return (left + right) / 2;
    }
    throw new Error(`not there: ${wanted}`);
  }, words);
const near = (one, other, within = 4) =>
  assert.ok(Math.abs(one - other) <= within, `${one} is not near ${other}`);
const isBefore = (one, other) => assert.ok(one < other, `${one} is not before ${other}`);

test.describe("an Arabic answer", () => {
  test("its paragraphs begin on the right, an English one on the left", async () => {
    await say("recite arabic");
    const column = await boxOf(answer().locator(".md"));
    const heading = answer().getByRole("heading", { name: "مرحبا بالعالم" });
    assert.equal(await directionOf(heading), "rtl");
    near((await edgesOf(heading)).right, column.right);
    const paragraph = answer().locator("p", { hasText: "هذا نص عربي" });
    assert.equal(await directionOf(paragraph), "rtl");
    near((await edgesOf(paragraph)).right, column.right);
    // The question mark is at the left end of the sentence.
    isBefore(await middleOf(paragraph, "؟"), await middleOf(paragraph, "صحيح"));
    const english = answer().locator("p", { hasText: "English paragraph" });
    assert.equal(await directionOf(english), "ltr");
    near((await edgesOf(english)).left, column.left);
  });

  test("code and addresses at its beginning do not turn it, and keep their own order", async () => {
    const paragraph = answer().locator("p", { hasText: "يعرض حالة" });
    assert.equal(await directionOf(paragraph), "rtl");
    const code = paragraph.locator("code");
    assert.equal(await directionOf(code), "ltr");
    near((await boxOf(code)).right, (await boxOf(paragraph)).right);
    assert.equal(await directionOf(paragraph.locator("a")), "ltr");
    assert.equal(await directionOf(answer().locator(".md-math")), "ltr");
  });

  test("the marks of its lists are on the right, next to items in either language", async () => {
    const list = answer().locator("ul").first();
    const outer = await boxOf(list);
    const style = await list.evaluate((element) => {
      const { paddingLeft, paddingRight } = getComputedStyle(element);
      return [parseFloat(paddingLeft), parseFloat(paddingRight)];
    });
    assert.equal(style[0], 0);
    assert.ok(style[1] > 10);
    const items = list.locator("> li");
    for (const item of await items.all()) {
      const { right } = await boxOf(item);
      near(right, outer.right - style[1]);
      assert.equal(await directionOf(item), "rtl");
    }
    const english = items.filter({ hasText: "English item" });
    near(
      await english.evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element.firstChild);
        return range.getBoundingClientRect().right;
      }),
      outer.right - style[1],
    );
    // In its own order: the full stop is at its right end.
    isBefore(await middleOf(english, "English"), await middleOf(english, "."));
    isBefore((await boxOf(english.locator("ul li"))).right, outer.right - style[1]);
    assert.equal(await directionOf(answer().locator("ol li").first()), "rtl");
    const todo = answer().locator(".md-todo");
    isBefore(await middleOf(todo, "مهمة"), await middleOf(todo, "☑"));
  });

  test("the bar of its quote is on the right", async () => {
    const widths = await answer()
      .locator("blockquote")
      .evaluate((element) => {
        const { borderLeftWidth, borderRightWidth } = getComputedStyle(element);
        return [borderLeftWidth, borderRightWidth];
      });
    assert.deepEqual(widths, ["0px", "3px"]);
  });

  test("the columns of its table run from the right, and each is aligned as one", async () => {
    const table = answer().getByRole("table");
    const [name, price] = await Promise.all([0, 1].map((at) => boxOf(table.locator("th").nth(at))));
    isBefore(price.right, name.left + 1);
    const cells = (column) => table.locator(`tr > :nth-child(${column})`);
    const padding = 14;
    for (const cell of await cells(1).all()) near((await edgesOf(cell)).right, name.right, padding);
    for (const cell of await cells(2).all()) near((await edgesOf(cell)).left, price.left, padding);
    const pear = table.getByRole("cell", { name: "Pear (green)" });
    isBefore(await middleOf(pear, "Pear"), await middleOf(pear, ")"));
  });

  test("its code blocks are left-to-right", async () => {
    const code = answer().locator("pre");
    assert.equal(await directionOf(code), "ltr");
    // Coloured, its words do not change the order of what stands between them.
    await code.locator(".hljs-comment").waitFor();
    const pieces = ["const", "مرحبا", "=", "عالم", ";", "//", "تعليق"];
    const middles = await Promise.all(pieces.map((piece) => middleOf(code, piece)));
    assert.deepEqual(
      middles,
      middles.toSorted((one, other) => one - other),
    );
    near((await edgesOf(code.locator("code"))).left, (await boxOf(code)).left, 20);
  });
});

test("a Hebrew answer, while it streams", async () => {
  // The first 300 characters come at once, and no more before all is looked at.
  const slow = await new FakeServer({ account: true, model: true, pace: 60_000 }).listen();
  const other = await openPage(browser, { url: slow.url, viewport: PHONE });
  await other.goto("/");
  await other.getByRole("textbox", { name: "Message" }).fill("recite hebrew");
  await other.getByRole("button", { name: "Send" }).click();
  const written = other.locator("article.assistant .answer");
  await written.getByRole("heading", { name: "שלום עולם!" }).waitFor();
  await other.getByRole("button", { name: "Stop" }).first().waitFor();
  for (const [selector, direction] of [
    ["h2", "rtl"],
    ["ol", "rtl"],
    ["table", "rtl"],
    ["pre", "ltr"],
  ])
    assert.equal(await directionOf(written.locator(selector).first()), direction, selector);
  assert.equal(await directionOf(written.locator("p", { hasText: "An English" })), "ltr");
  assert.equal(await other.getByRole("button", { name: "Regenerate" }).count(), 0);
  await other.context().close();
  await slow.close();
});

test("Hebrew words in an English table and list stay in their columns", async () => {
  await page.goto("/");
  await say("recite english");
  const table = answer().getByRole("table");
  const head = await edgesOf(table.locator("th").first());
  const hebrew = table.locator("td").first();
  assert.equal(await directionOf(table), "ltr");
  near((await edgesOf(hebrew)).left, head.left);
  // Its own order: the bracket is on its left.
  isBefore(await middleOf(hebrew, "(a)"), await middleOf(hebrew, "שלום"));
  const items = answer().locator("li");
  near((await edgesOf(items.first())).left, (await edgesOf(items.last())).left);
});

test("each line that is typed, and sent, has its own direction", async () => {
  await page.goto("/");
  const area = await boxOf(box());
  assert.equal(await directionOf(box()), "ltr");
  await box().pressSequentially("مرحبا، كيف الحال؟");
  assert.equal(await directionOf(box()), "rtl");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("English (too).");
  await hasValue(box(), "مرحبا، كيف الحال؟\nEnglish (too).");
  isBefore(area.left, (await boxOf(box())).right);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
  const bubble = page.locator(".bubble");
  assert.equal(await directionOf(bubble), "rtl");
  isBefore(await middleOf(bubble, "؟"), await middleOf(bubble, "مرحبا"));
  isBefore(await middleOf(bubble, "English"), await middleOf(bubble, "."));
  const { right } = await boxOf(bubble);
  near((await edgesOf(bubble)).right, right, 20);

  await page.locator(".mine").hover();
  await page.getByRole("button", { name: "Edit" }).click();
  assert.equal(await directionOf(page.getByRole("textbox", { name: "Edit your message" })), "rtl");
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("a title is in its own direction in the header and in the list, and is what it says", async () => {
  const row = page.getByRole("navigation").locator("li.current");
  const rename = async (name) => {
    await row.getByRole("link").dblclick();
    const field = row.getByRole("textbox");
    await field.fill(name);
    await field.press("Enter");
    await field.waitFor({ state: "detached" });
  };
  await rename("שיחה (API) חדשה!");
  for (const title of [row.locator(".title"), page.locator("header h1")]) {
    assert.equal(await directionOf(title), "rtl");
    isBefore(await middleOf(title, "!"), await middleOf(title, "שיחה"));
  }
  await rename("evil \u202egpj.exe");
  for (const title of [row.locator(".title"), page.locator("header h1")])
    await until("it is renamed", async () => (await title.textContent()).trim() === "evil gpj.exe");
  await rename("שיחה (API) חדשה!");
});

test.describe("a page from right to left", () => {
  let chat;
  test.beforeAll(async () => {
    await page.goto("/");
    await say("recite arabic");
    chat = new URL(page.url()).pathname;
  });

  /** Opens a page and turns it round: no language of the page does so yet. */
  async function open(path, viewport) {
    await page.setViewportSize(viewport);
    await page.goto(path);
    await page.getByRole("heading").or(box()).first().waitFor();
    await page.evaluate(() => (document.documentElement.dir = "rtl"));
  }

  /** What stands outside of the window, but for what scrolls by itself and what is hidden on purpose. */
  const overflow = () =>
    page.evaluate(() => {
      const isOut = (element) => {
        const { left, right, width, height } = element.getBoundingClientRect();
        const scrolls = element.closest("pre, .md-table, .columns, [popover], .visually-hidden, .skip");
        return width > 1 && height > 1 && !scrolls && (left < -1 || right > innerWidth + 1);
      };
      const out = [...document.querySelectorAll("body *")].filter(isOut);
      if (document.scrollingElement.scrollWidth > innerWidth) out.push(document.scrollingElement);
      return out.map((element) => element.outerHTML.slice(0, 120));
    });

  for (const viewport of [PHONE, DESKTOP]) {
    test(`a chat at ${viewport.width} pixels does not overflow`, async () => {
      await open(chat, viewport);
      await answer().getByRole("table").waitFor();
      assert.deepEqual(await overflow(), []);
      if (viewport === DESKTOP) return;
      await page.getByRole("button", { name: "Open sidebar" }).click();
      const sheet = await boxOf(page.locator(".sheet"));
      near(sheet.right, viewport.width);
    });
    for (const path of ["/", "/settings", "/settings/models", "/knowledge", "/inbox"]) {
      test(`${path} at ${viewport.width} pixels does not overflow`, async () => {
        await open(path, viewport);
        assert.deepEqual(await overflow(), []);
      });
    }
  }

  test("the sidebar is on the right, Send on the left, and arrows point the other way", async () => {
    await open(chat, DESKTOP);
    near((await boxOf(page.getByRole("navigation").first())).right, DESKTOP.width);
    const composer = await boxOf(page.locator(".composer .box"));
    isBefore((await boxOf(page.locator(".composer .send"))).right, composer.left + 60);
    // An empty field begins on the right too.
    assert.equal(await directionOf(box()), "rtl");
    isBefore((await boxOf(page.locator(".bubble"))).left, composer.left + 40);
    const icon = page.locator(".lucide-panel-left-close").first();
    assert.equal(await icon.evaluate((element) => getComputedStyle(element).scale), "-1 1");
  });

  test("a menu opens below the end of its button that the line begins with", async () => {
    const button = page.getByRole("button", { name: /choose a model/ });
    await button.click();
    near((await boxOf(page.locator(".menu:popover-open"))).right, (await boxOf(button)).right);
    await page.keyboard.press("Escape");
  });
});
