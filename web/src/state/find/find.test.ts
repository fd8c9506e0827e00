/** Finding words in several scripts, and the words of Markdown as they are shown. */
import { describe, expect, test } from "vitest";
import { wordHits } from "./chat-hit.ts";
import { fold, foldQuery, hitsIn } from "./hits.ts";
import { drawnIn, rangeOf, wordsOf } from "./words.ts";

const found = (text: string, query: string) =>
  hitsIn(fold(text), foldQuery(query)).map(({ start, end }) => text.slice(start, end));

describe("a query", () => {
  test.each([
    ["Word, word and WORD", "word", ["Word", "word", "WORD"]],
    ["Ещё ЁЛКА", "елка", ["ЁЛКА"]],
    ["Привет, МИР", "мир", ["МИР"]],
    ["İstanbul and naïve Café", "cafe", ["Café"]],
    ["İstanbul", "istanbul", ["İstanbul"]],
    ["العَرَبِيَّة", "العربي", ["العَرَبِي"]],
    ["数据库和数据", "数据", ["数据", "数据"]],
    ["👍 ok 👍", "👍", ["👍", "👍"]],
    ["two\nlines", "two lines", ["two\nlines"]],
    ["x", "  ", []],
  ])("in %s of %s", (text, query, expected) => expect(found(text, query)).toEqual(expected));

  test("stops at a bound", () => expect(hitsIn(fold("a".repeat(5000)), "a", 10)).toHaveLength(10));
});

test("the words of Markdown are those that are shown", () => {
  expect(
    wordsOf("# A **b**\n\n- c `d`\n- [e](https://x.example)\n\n| f | g |\n|---|---|\n| h | &amp; |\n"),
  ).toBe("A b\nc d\ne\nf\ng\nh\n&\n");
  expect(wordsOf("```js\nlet a\n```\n\nx $y$ z")).toBe("let a\nx \ufffc z\n");
});

test("a hit across elements has one range", () => {
  document.body.innerHTML = "<p>one <b>tw</b>o <button>no</button> three</p><p>four</p>";
  const drawn = drawnIn([document.body]);
  const [hit] = hitsIn(fold(drawn.text), foldQuery("TWO"));
  expect(hit && rangeOf(drawn, hit.start, hit.end)?.toString()).toBe("two");
  expect(hitsIn(fold(drawn.text), foldQuery("three four"))).toHaveLength(1);
  expect(hitsIn(fold(drawn.text), foldQuery("no"))).toHaveLength(0);
});

test.each([
  ["Rivers rise; the river sinks", "rivers", ["Rivers", "river"]],
  ["Приливы и отливы прилива", "прилив", ["Приливы", "прилива"]],
  ["我在京都看雨", "京都", ["京都"]],
  ["two of the words, and these words", "the words", ["words", "words"]],
  ["none", "", []],
])("the words of a search hit in %s: %s", (text, query, expected) =>
  expect(wordHits(text, query).map(({ start, end }) => text.slice(start, end))).toEqual(expected),
);

test("a hostile query costs little", () => {
  const started = performance.now();
  expect(wordHits("word ".repeat(50_000), "word ".repeat(100_000))).toHaveLength(2000);
  expect(performance.now() - started).toBeLessThan(2000);
});
