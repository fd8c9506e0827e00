/**
 * Answers that make a renderer slow, deep or wide: the chat is shown, its words are there, and the page stays usable.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { copiedBy, hasValue, launch, openPage } from "./browser.mjs";
import { texts } from "./fake/scripts.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

const CHARS = 120_000;
const fill = (piece) => piece.repeat(Math.ceil(CHARS / piece.length));
const lines = (count, line) => Array.from({ length: count }, (_, n) => line(n)).join("\n");
const paragraphs = (piece) => `${piece.repeat(Math.ceil(3000 / piece.length))}\n\n`.repeat(30);

const hostile = {
  emphasis: fill("*a_"),
  "emphasis in paragraphs": paragraphs("*a_"),
  "emphasis in an item": `- ${paragraphs("*a_").replaceAll("\n\n", "\n  ")}`,
  brackets: fill("["),
  exclamations: fill("!"),
  ticks: fill("`a"),
  tildes: fill("~a"),
  angles: fill("<"),
  pipes: fill("|"),
  mixed: fill("*_`[~<!|$\\&"),
  quotes: `${"> ".repeat(1000)}deep`,
  "quote marks": `${">".repeat(20_000)} deep`,
  bullets: `${"- ".repeat(1000)}deep`,
  numbers: `${"1. ".repeat(1000)}deep`,
  formulas: "$x_{1}^{2}$ ".repeat(5000),
  columns: `|${"a|".repeat(20_000)}\n|${"-|".repeat(20_000)}\n${"|\n".repeat(2000)}`,
  "long line": "a".repeat(500_000),
  links: "[a](https://example.org/1) ".repeat(5000),
  definitions: lines(10_000, (n) => `[d${n}]: /x${n}`),
  code: `\`\`\`js\n${lines(10_000, (n) => `const x${n} = "some code";`)}\n\`\`\`\n`,
};
for (const [name, text] of Object.entries(hostile))
  texts.set(name, `Before **${name}**.\n\n${text}\n\nThe end of ${name}.`);

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch();
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  page = await openPage(browser, { url: server.url });
  await page.goto("/");
});
test.afterAll(async () => {
  await browser.close();
  await server.close();
});

const box = () => page.getByRole("textbox", { name: "Message" });
const answer = () => page.locator("article.assistant .answer").last();

/** Checks that the page accepts input, and shows the whole answer with its plain text. */
async function isUsable(name) {
  // Searched manually: text locators examine each of tens of thousands of elements repeatedly.
  await page.waitForFunction((end) => {
    const shown = [...document.querySelectorAll("article.assistant .answer")].at(-1);
    return shown?.textContent.includes(end);
  }, `The end of ${name}.`);
  assert.equal(await answer().locator("strong").first().textContent(), name);
  await box().fill("still here");
  await hasValue(box(), "still here");
  await box().fill("");
  await page.getByRole("button", { name: "Copy" }).last().waitFor();
}

test.describe("an answer of", () => {
  for (const name of Object.keys(hostile)) {
    test(name, async () => {
      await page.goto("/");
      await box().fill(`recite ${name}`);
      await page.keyboard.press("Enter");
      await answer()
        .locator(".md")
        .evaluate((first) => (first.dataset.first = ""));
      await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
      await isUsable(name);
      assert.equal(await answer().locator(".md[data-first]").count(), 1, "it was read again from its start");
      // Once more when the chat is opened later.
      await page.reload();
      await isUsable(name);
    });
  }
});

test("every word of what is too deep is there, and can be copied", async () => {
  await page.goto("/");
  await box().fill("recite quotes");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
  const shown = await answer().innerText();
  assert.equal(shown.split(">").length - 1, 1000 - (await answer().locator("blockquote").count()));
  const copy = page.locator("article.assistant").last().getByRole("button", { name: "Copy" }).last();
  assert.equal(await copiedBy(copy), texts.get("quotes"));
});

test("a message that cannot be drawn leaves the others in the page", async () => {
  await page.goto("/");
  await box().fill("hello there");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
  await page.route("**/api/v1/chats/*", async (route) => {
    const response = await route.fetch();
    const chat = await response.json();
    const broken = chat.messages?.find(({ role }) => role === "user");
    if (broken) broken.content = [null, { type: "text", text: "words of the broken one" }];
    await route.fulfill({ response, json: chat });
  });
  await page.reload();
  await page.getByText("Couldn’t display this message.").first().waitFor();
  await page.getByText("words of the broken one").first().waitFor();
  await page.getByText("This answer comes from the test server").waitFor();
  await box().fill("still here");
  await hasValue(box(), "still here");
});
