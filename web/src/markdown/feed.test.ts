// How much of a growing text is parsed and rendered again, counted for a text of many blocks that arrives in tokens.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answer, tokenPieces } from "./answer.fixture";
import type { Block } from "./blocks";
import { BoundedLexer } from "./bounds";
import { StreamMarkdown } from "./engine";
import { MarkdownFeed } from "./feed";
import { sectionsOf, type Section } from "./sections";

vi.mock("./sanitize", () => ({
  sanitizeMarkdown: (html: string) => html,
  sanitizeRows: (html: string) => html,
}));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Tokens arrive every 5 ms. */
const TOKEN_MS = 5;

/** Streams `text` and returns what was rendered each time, and how many characters were parsed in all. */
function stream(text: string): { shown: (readonly Block[])[]; parsedChars: number } {
  const lex = vi.spyOn(BoundedLexer.prototype, "lex");
  const shown: (readonly Block[])[] = [];
  const feed = new MarkdownFeed((blocks) => shown.push(blocks));
  let arrived = "";
  for (const piece of tokenPieces(text)) {
    arrived += piece;
    feed.update(arrived, true);
    vi.advanceTimersByTime(TOKEN_MS);
  }
  feed.update(text, false);
  vi.runAllTimers();
  return { shown, parsedChars: lex.mock.calls.reduce((sum, [source]) => sum + source.length, 0) };
}

test("an update parses and changes as much of a long answer as of a short one", () => {
  const [short, long] = [8_000, 64_000].map((chars) => {
    const { shown, parsedChars } = stream(answer(chars, "mixed"));
    let changed = 0;
    let sections: Section[] = [];
    for (const blocks of shown.slice(0, -1)) {
      const next = sectionsOf(blocks, sections);
      const before = new Set(sections.flatMap((section) => section.blocks));
      changed += blocks.filter((block) => !before.has(block)).length;
      sections = next;
    }
    return { parsed: parsedChars / shown.length, changed: changed / shown.length };
  });
  expect(long?.parsed).toBeLessThan((short?.parsed ?? 0) * 1.5);
  expect(long?.changed).toBeLessThan((short?.changed ?? 0) * 1.5);
  expect(long?.changed).toBeLessThan(6);
});

test("tokens are rendered together, and all of them in the end", () => {
  const text = answer(4_000, "mixed");
  const { shown } = stream(text);
  const seconds = (tokenPieces(text).length * TOKEN_MS) / 1000;
  expect(shown.length / seconds).toBeLessThanOrEqual(16);
  const engine = new StreamMarkdown();
  engine.append(text);
  engine.finish();
  expect(shown.at(-1)).toEqual(engine.blocks);
});

test("the end is rendered at once", () => {
  const shown: (readonly Block[])[] = [];
  const feed = new MarkdownFeed((blocks) => shown.push(blocks));
  feed.update("one", true);
  feed.update("one two", true);
  feed.update("one two three", false);
  expect(shown.map((blocks) => (blocks[0]?.kind === "html" ? blocks[0].html : ""))).toEqual([
    "<p>one</p>\n",
    "<p>one two three</p>\n",
  ]);
  expect(vi.getTimerCount()).toBe(0);
});
