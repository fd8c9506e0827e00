// Directions in rendered Markdown: a block follows its first strong character; code, formulas and addresses do not
// count and are left-to-right. The layout itself is checked in e2e/bidi.e2e.mjs.

import { render } from "@testing-library/svelte";
import { describe, expect, test, vi } from "vitest";
import { directionOf, directionOfHtml } from "./direction";
import Markdown from "./Markdown.svelte";
import { lex, tokensToHtml } from "./syntax";

vi.mock("./sanitize", () => ({
  sanitizeMarkdown: (html: string) => html,
  sanitizeRows: (html: string) => html,
  sanitizeHighlight: (html: string) => html,
  sanitizeMath: (html: string) => html,
}));

/** Renders a complete text. A slow machine parses it in several slices. */
async function rendered(text: string): Promise<HTMLElement> {
  const oncomplete = vi.fn();
  const { container } = render(Markdown, { text, oncomplete });
  await vi.waitFor(() => expect(oncomplete).toHaveBeenCalled());
  return container;
}

const htmlOf = (text: string) => tokensToHtml(lex(text, {}, false));

describe("what is left-to-right in every text", () => {
  test.each([
    ["inline code", "הריצו `a < b()`", '<p>הריצו <code dir="ltr">a &lt; b()</code></p>\n'],
    ["a formula", "כי $x^2$", '<p>כי <span class="md-math" dir="ltr" data-tex="x^2">x^2</span></p>\n'],
    [
      "a formula of its own",
      "$$x$$",
      '<p><span class="md-math md-display" dir="ltr" data-tex="x">x</span></p>',
    ],
    [
      "an address",
      "ראו https://x.example/a",
      '<p>ראו <a href="https://x.example/a" dir="ltr" target="_blank" rel="noreferrer noopener">https://x.example/a</a></p>\n',
    ],
    [
      "code in a list",
      "- טקסט\n  ```js\n  x\n  ```",
      '<ul>\n<li>טקסט<div class="md-code" dir="ltr"><div class="md-bar"><span>js</span>' +
        '<button type="button" data-copy="">Copy</button></div>' +
        '<pre tabindex="0"><code data-lang="js">x</code></pre></div></li>\n</ul>\n',
    ],
  ])("%s", (_, text, html) => expect(htmlOf(text)).toBe(html));
});

test("words that are a link have the direction of their text", () => {
  expect(htmlOf("[כאן](https://x.example)")).not.toContain("dir=");
});

// `dir="auto"` ignores the text of descendants that have a `dir` attribute.
test.each(["# כותרת", "טקסט", "- א\n  - ב\n\n    ג", "> ציטוט\n>\n> - א", "| א | ב |\n|---|---|\n| 1 | x |"])(
  "nothing within a block decides for itself: %j",
  (text) => expect(htmlOf(text)).not.toContain("dir="),
);

test("the first letter of a table that counts decides about its columns", () => {
  expect(directionOfHtml('<tr><th>1</th><th><code dir="ltr">x</code> &amp; שם</th></tr>')).toBe("rtl");
  expect(directionOfHtml('<tr><th align="right">Word שם</th></tr>')).toBe("ltr");
  expect(directionOfHtml("<tr><th>1</th><th>&lt;</th></tr>")).toBeUndefined();
  expect(directionOf("")).toBeUndefined();
});

test("each block has its own direction, and code none but its own", async () => {
  const text = [
    "# عنوان",
    "Text",
    "- عنصر",
    "> اقتباس",
    "| عمود |\n|---|\n| 1 |",
    "```js\nx\n```",
    "```\n// تعليق\n```",
  ].join("\n\n");
  const container = await rendered(text);
  const blocks = [...container.querySelectorAll<HTMLElement>(".md-block")];
  expect(blocks.map(({ dir, firstElementChild }) => `${firstElementChild?.localName} ${dir}`)).toEqual([
    "h1 auto",
    "p auto",
    "ul auto",
    "blockquote auto",
    "div rtl",
    "div ltr",
    "div ltr",
  ]);
});

test("a text that is not read is plain text with a direction for each line", async () => {
  const container = await rendered("ש".repeat(40_000));
  expect(container.querySelector<HTMLElement>(".md-plain")?.dir).toBe("auto");
});
