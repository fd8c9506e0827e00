// However a text is split into pieces, the blocks must equal those of the whole text. Sanitising is left out here
// (happy-dom's parser breaks DOMPurify); e2e/markdown checks it in Chromium.

import type { Links } from "marked";
import { describe, expect, test, vi } from "vitest";
import { answer, seeded, tokenPieces, type AnswerKind } from "./answer.fixture";
import { toBlock, type Block } from "./blocks";
import { cases } from "./cases.fixture";
import { StreamMarkdown } from "./engine";
import { lex } from "./syntax";

vi.mock("./sanitize", () => ({
  sanitizeMarkdown: (html: string) => html,
  sanitizeRows: (html: string) => html,
}));

type Cut = (text: string) => string[];

const cuts: Record<string, Cut> = {
  characters: (text) => [...text],
  codeUnits: (text) => text.split(""),
  words: (text) => text.match(/\s*\S+|\s+$/g) ?? [],
  lines: (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [],
  afterBreak: (text) => text.match(/\n?[^\n]*/g) ?? [],
  tokens: (text) => tokenPieces(text, 7),
};

function randomCut(seed: number): Cut {
  return (text) => {
    const next = seeded(seed);
    const pieces: string[] = [];
    for (let at = 0; at < text.length;) {
      const length = 1 + Math.floor(next() ** 3 * 60);
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    return pieces;
  };
}
for (const seed of [1, 2]) cuts[`random ${seed}`] = randomCut(seed);

function stream(pieces: readonly string[], budgetMs = Infinity): readonly Block[] {
  const engine = new StreamMarkdown();
  for (const piece of pieces) {
    engine.append(piece);
    engine.flush(budgetMs);
  }
  while (!engine.finish(budgetMs));
  return engine.blocks;
}

/** The output of marked for the whole text at once, without the engine's splitting. */
function reference(text: string): Block[] {
  const source = text.replace(/\r\n?/g, "\n");
  const links = (lex(source, {}, false) as unknown as { links: Links }).links;
  const tokens = lex(source, links, false).filter(({ type }) => type !== "space" && type !== "def");
  return tokens.map((token, id) => toBlock(token, id));
}

describe.each(Object.entries(cuts))("cut into %s", (_, cut) => {
  test.each(Object.entries(cases))("%s", (_, text) => {
    expect(stream(cut(text))).toEqual(reference(text));
  });
});

test("the cuts lose nothing", () => {
  for (const cut of Object.values(cuts))
    for (const text of Object.values(cases)) expect(cut(text).join("")).toBe(text);
});

test.each(Array.from({ length: 25 }, (_, i) => i + 1))("answer %i streamed in tokens", (seed) => {
  const text = answer(3000, "mixed", seed);
  expect(stream(tokenPieces(text, seed))).toEqual(stream([text]));
});

test.each(Array.from({ length: 150 }, (_, i) => i + 1))("random document %i", (seed) => {
  const text = jumble(seed);
  expect(stream(randomCut(seed)(text))).toEqual(reference(text));
});

/** Fragments of all cases in random order with random separators: input that no author would write. */
function jumble(seed: number): string {
  const next = seeded(seed);
  const lines = Object.values(cases).flatMap((text) => text.split("\n"));
  const joints = ["\n", "\n", "\n", "\n\n", " ", "\n\n\n", "\n  ", "\n    "];
  const pick = (list: readonly string[]): string => list[Math.floor(next() * list.length)] ?? "";
  return Array.from({ length: 4 + Math.floor(next() * 14) }, () => pick(lines) + pick(joints)).join("");
}

const giants: AnswerKind[] = ["code", "paragraph", "table", "list", "nested", "quote"];

describe.each(giants)("one very long %s", (kind) => {
  const text = `Intro.\n\n${answer(20_000, kind, 5)}\nAfter **it**.\n\n[x]: /y\n`;
  test.each([37, 160, 1111])("streams as it reads at once (%i characters at a time)", (size) => {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    );
    expect(stream(pieces)).toEqual(stream([text]));
  });
  test("with a budget of no time at all", () => {
    expect(stream([text], 0)).toEqual(stream([text]));
  });
});

test.each(["code", "paragraph", "table", "list", "quote"] as const)("a very long %s is read once", (kind) => {
  const text = answer(80_000, kind, 2);
  const engine = new StreamMarkdown();
  let longestTail = 0;
  for (let at = 0; at < text.length; at += 160) {
    engine.append(text.slice(at, at + 160));
    engine.flush();
    longestTail = Math.max(longestTail, ...engine.tail.map(unsettledChars));
  }
  expect(longestTail).toBeLessThan(16_000);
});

function unsettledChars(block: Block): number {
  return block.kind === "html" ? block.html.length : block.rest.length;
}

test("settled blocks keep their identity", () => {
  const engine = new StreamMarkdown();
  const seen = new Map<number, Block>();
  for (const piece of tokenPieces(answer(6000))) {
    engine.append(piece);
    engine.flush();
    for (const block of engine.blocks) {
      const before = seen.get(block.id) ?? block;
      expect(block).toBe(before);
      seen.set(block.id, block);
    }
  }
  engine.finish();
  expect(engine.blocks.slice(0, seen.size)).toEqual([...seen.values()]);
  expect(engine.tail).toEqual([]);
});

test("a definition at the end changes only the blocks that use it", () => {
  const engine = new StreamMarkdown();
  engine.append("Plain.\n\nSee [foo].\n\nPlain too.\n\n");
  engine.flush();
  const [plain, use] = engine.blocks;
  engine.append("[foo]: /url\n");
  engine.finish();
  expect(engine.blocks[0]).toBe(plain);
  expect(engine.blocks[1]).not.toBe(use);
  expect(engine.blocks[1]).toMatchObject({ id: 1, html: expect.stringContaining('href="/url"') });
});

test("numbering goes on through a list that was cut", () => {
  const items = Array.from({ length: 600 }, (_, i) => `1. item number ${i + 1} of many`).join("\n");
  const blocks = stream([items]);
  expect(blocks.length).toBeGreaterThan(2);
  let expected = 1;
  for (const block of blocks) {
    const html = block.kind === "html" ? block.html : "";
    const start = Number(/^<ol start="(\d+)"/.exec(html)?.[1] ?? 1);
    expect(start).toBe(expected);
    expect(block.joined).toBe(expected > 1);
    expected += html.split("<li>").length - 1;
  }
  expect(expected).toBe(601);
});

describe("the unsettled end", () => {
  const tailOf = (text: string): Block | undefined => {
    const engine = new StreamMarkdown();
    engine.append(text);
    engine.flush();
    return engine.tail.at(-1);
  };
  test("closes marks", () =>
    expect(tailOf("a **bol")).toMatchObject({ html: "<p>a <strong>bol</strong></p>\n" }));
  test("hides half a link", () =>
    expect(tailOf("see [text](https://exa")).toMatchObject({ html: "<p>see text</p>\n" }));
  test("knows open code", () =>
    expect(tailOf("```js\nlet a")).toMatchObject({ open: true, lang: "js", rest: "let a" }));
  test("knows closed code", () => expect(tailOf("```js\nlet a\n```")).toMatchObject({ open: false }));
  test("shows an open formula as source", () =>
    expect(tailOf("$$\na <")).toMatchObject({ html: '<p class="md-source" dir="ltr">a &lt;</p>' }));
});

test("a long paragraph that comes at once has no block twice while it is read", () => {
  const engine = new StreamMarkdown();
  const words = Array.from({ length: 4000 }, (_, n) => `word${n} `).join("");
  engine.append(words.slice(0, 1000));
  engine.flush();
  engine.append(words.slice(1000));
  for (let isRead = false; !isRead;) {
    isRead = engine.flush(-1);
    const ids = [...engine.blocks, ...engine.tail].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
});
