// Bounds on depth and work: what exceeds them is shown as plain text with every word intact. Work is measured in
// characters given to the lexer and scanned by it, never in time.

import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Block } from "./blocks";
import { BoundedLexer, MAX_DEPTH, MAX_RUN_CHARS, runsOf } from "./bounds";
import { StreamMarkdown } from "./engine";
import { stress } from "./stress.fixture";
import { lex } from "./syntax";
import { lexWhole } from "./whole";

vi.mock("./sanitize", () => ({
  sanitizeMarkdown: (html: string) => html,
  sanitizeRows: (html: string) => html,
}));

let given = 0;
const original = { ...Object.getOwnPropertyDescriptors(BoundedLexer.prototype) };
const { exec } = RegExp.prototype;
let scanned = 0;

beforeAll(() => {
  const { blockTokens, inlineTokens } = BoundedLexer.prototype;
  BoundedLexer.prototype.blockTokens = function (...call) {
    given += call[0].length;
    return blockTokens.apply(this, call);
  };
  BoundedLexer.prototype.inlineTokens = function (...call) {
    given += call[0].length;
    return inlineTokens.apply(this, call);
  };
});
afterAll(() => {
  Object.defineProperties(BoundedLexer.prototype, original);
});
afterEach(() => {
  RegExp.prototype.exec = exec;
});

/** Counts the characters scanned by sticky searches, as those for emphasis are. */
function countScans(): void {
  scanned = 0;
  RegExp.prototype.exec = function (text) {
    const from = this.lastIndex;
    const match = exec.call(this, text);
    if (this.flags === "gu") scanned += (match ? this.lastIndex : text.length) - from;
    return match;
  };
}

function whole(text: string): readonly Block[] {
  const engine = new StreamMarkdown();
  engine.append(text);
  engine.finish();
  return engine.blocks;
}

function shownOf(blocks: readonly Block[]): string {
  const text = blocks.map((block) =>
    block.kind === "html"
      ? block.html
      : block.kind === "table"
        ? block.head + block.chunks.join("") + block.rest
        : block.chunks.join("") + block.rest,
  );
  return text.join("\n");
}

test.each(Object.entries(stress))("%s: work in proportion to the text", (_, text) => {
  given = 0;
  whole(text);
  expect(given / (text.length + 1000)).toBeLessThan(400);
});

test.each(["table 20,000 rows", "table long rows", "code of 1 MB", "links", "line of words"])(
  "%s: a long block is parsed in slices",
  (name) => {
    const engine = new StreamMarkdown();
    engine.append(stress[name] ?? "");
    let most = 0;
    for (let isDone = false; !isDone; most = Math.max(most, given)) {
      given = 0;
      // Without time, one slice.
      isDone = engine.flush(-1);
    }
    expect(most).toBeLessThan(200_000);
  },
);

test.each(["*a_", "**a __b ", "~a", "_*~`", "*a **b "])(
  "emphasis of %s: scans in proportion to the text",
  (mark) => {
    const perChar = [3_000, 48_000].map((chars) => {
      const text = mark.repeat(chars / mark.length);
      countScans();
      whole(text);
      RegExp.prototype.exec = exec;
      return scanned / chars;
    });
    expect(Math.max(...perChar)).toBeLessThan(100);
  },
);

/** Expects all words of the source in the rendered text. */
function expectWords(text: string, shown: string): void {
  const plain = shown
    .replace(/<[^>]*>/g, "")
    .replaceAll("&gt;", ">")
    .replaceAll("&lt;", "<")
    .replaceAll("&amp;", "&");
  for (const word of text.match(/[a-z0-9]{2,}/gi) ?? []) expect(plain).toContain(word);
}

test.each([
  ["> ", "<blockquote>"],
  ["- ", "<ul>"],
  ["1. ", "<ol>"],
])("%s nested 1,000 deep is nested so far, and then text", (mark, tag) => {
  const html = shownOf(whole(`before\n\n${mark.repeat(1000)}deep **word**\n\nafter`));
  expect(html.split(tag).length - 1).toBe(MAX_DEPTH);
  expect(html).toContain("md-plain");
  expect(html).toContain("deep **word**");
  expect(html).toContain("<p>after</p>");
});

test("marks nested 1,000 deep are nested so far, and then text", () => {
  const text = `${"*a **b ".repeat(500)}word${" b** a*".repeat(500)}`;
  const html = shownOf(whole(text));
  expect(html.split(/<em>|<strong>/).length - 1).toBeLessThan(1500);
  expect(deepest(html)).toBeLessThanOrEqual(MAX_DEPTH + 2);
  expectWords(text, html);
});

function deepest(html: string): number {
  let depth = 0;
  let most = 0;
  for (const [tag] of html.matchAll(/<\/?[a-z]+[^>]*>/g))
    most = Math.max(most, (depth += tag.startsWith("</") ? -1 : 1));
  return most;
}

test("nothing is lost of a long paragraph that is cut into runs", () => {
  const picture = `![a plot](data:image/png;base64,${"A".repeat(50_000)})`;
  const text = `${"word **bold** ".repeat(900)}${"x".repeat(9000)} ${picture} end`;
  const runs = runsOf(text);
  expect(runs.map((run) => run.text).join("")).toBe(text);
  for (const run of runs)
    expect(run.text.length <= MAX_RUN_CHARS || run.isPlain || run.text === picture).toBe(true);
  expect(shownOf(whole(text))).toContain('<img src="data:image/png;base64,AAAA');
});

test("a long word is text, and the words around it keep their marks", () => {
  const html = shownOf(whole(`**a** ${"*b_".repeat(3000)} **c** ${"d ".repeat(100)}`));
  expect(html).toContain("<strong>a</strong>");
  expect(html).toContain("<strong>c</strong>");
  expect(html).toContain("*b_".repeat(3000));
});

test("a paragraph that cannot be cut is one block of text, and what follows is read again", () => {
  const text = `${"a".repeat(100_000)}\n\n# Heading\n\n**bold**`;
  const blocks = whole(text);
  expect(blocks.map((block) => block.kind)).toEqual(["text", "html", "html"]);
  expect(shownOf(blocks)).toBe(
    `${"a".repeat(100_000)}\n<h1>Heading</h1>\n\n<p><strong>bold</strong></p>\n`.replace(
      "\n<h1>",
      "\n\n<h1>",
    ),
  );
});

test.each(["table 20,000 columns", "table 150 columns of empty rows", "table heads"])(
  "%s is text",
  (name) => {
    const text = stress[name] ?? "";
    const blocks = whole(text);
    expect(blocks.some(({ kind }) => kind === "table")).toBe(false);
  },
);

test("a row longer than a window of a long table is not lost", () => {
  const rows = Array.from({ length: 200 }, (_, n) => `| ${n} | row ${n} |`).join("\n");
  const text = `| a | b |\n|---|---|\n${rows}\n| ${"long ".repeat(1500)} | last |\n| ${"longer ".repeat(4000)}| end |\n\nafter`;
  const html = shownOf(whole(text));
  for (const word of ["row 199", "last", "end", "after"]) expect(html).toContain(word);
  expect(html.split("long").length - 1).toBe(1500 + 4000);
});

test("definitions beyond the bound are text", () => {
  const links = Array.from({ length: 3000 }, (_, n) => `[d${n}]: /x${n}`).join("\n");
  const html = shownOf(whole(`${links}\n\nSee [d1] and [d1500].`));
  expect(html).toContain('<a href="/x1"');
  expect(html).toContain("[d1500]");
});

test.each([
  "mixed",
  "words [",
  "items *a_",
  "quotes that grow",
  "lazy quotes",
  "table heads",
  "definitions",
  "marks *a_",
])("%s streams as it reads at once, in proportion to its length", (name) => {
  const text = (stress[name] ?? "").slice(0, 40_000);
  given = 0;
  const engine = new StreamMarkdown();
  for (let at = 0; at < text.length; at += 80) {
    engine.append(text.slice(at, at + 80));
    engine.flush();
  }
  engine.finish();
  const pieces = text.length / 80;
  // Each update re-reads at most the unsettled tail, no matter how long the text is.
  expect(given / pieces).toBeLessThan(8192 * 30);
  expect(engine.blocks).toEqual(whole(text));
});

test.each(["mixed lines", "quotes 1,000 deep", "links", "table 20,000 rows", "definitions"])(
  "%s as tokens of an export",
  (name) => {
    const text = stress[name] ?? "";
    given = 0;
    const tokens = lexWhole(text);
    expect(given / text.length).toBeLessThan(100);
    expect(tokens.map(({ raw }) => raw).join("").length).toBeGreaterThan(text.trim().length * 0.99);
  },
);

test("a source that the lexer gives up on is text", () => {
  BoundedLexer.prototype.lex = () => {
    throw new RangeError("Maximum call stack size exceeded");
  };
  try {
    expect(lex("**a**", {}, false)).toMatchObject([{ type: "plain", raw: "**a**" }]);
  } finally {
    Reflect.deleteProperty(BoundedLexer.prototype, "lex");
  }
});
