/** A document's text is rendered completely and in order, with the found passage. */
import { describe, expect, test } from "vitest";
import { blocksOf, foundIn, markdownBlocksOf, partsOf, type Span } from "./blocks.ts";
import { indexesOf } from "./places.ts";

/** Byte offset of `part` in the text, as counted by the server. */
const byteOf = (text: string, part: string) =>
  new TextEncoder().encode(text.slice(0, text.indexOf(part))).length;

test("bytes and characters become indexes", () => {
  const text = "aё€😀z";
  expect(indexesOf(text, [0, 1, 3, 6, 10, 11, 99], "bytes")).toEqual([0, 1, 2, 3, 5, 6, 6]);
  expect(indexesOf(text, [0, 3, 4, 5], "characters")).toEqual([0, 3, 5, 6]);
});

test("pages and headings are where the server says, after wide characters too", () => {
  const text = "Ж😀\n# Один\nтекст\n### Deep\nmore\npage two";
  const span = (line: string) => {
    const start = byteOf(text, line);
    return { start, end: start + new TextEncoder().encode(line).length };
  };
  const structure = {
    title: null,
    pages: [
      { number: 1, start: 0 },
      { number: 2, start: byteOf(text, "page two") },
    ],
    headings: [
      { level: 1, span: span("# Один"), title: "Один" },
      { level: 3, span: span("### Deep"), title: "Deep" },
    ],
  };
  const shown = blocksOf(text, structure, null).map((block) => {
    if (block.kind === "page") return block.number;
    return block.kind === "heading"
      ? `${block.depth} ${block.text}`
      : text.slice(block.span.start, block.span.end);
  });
  expect(shown).toEqual([1, "Ж😀", "2 Один", "текст", "3 Deep", "more", 2, "page two"]);
});

test("the headings of Markdown are headings, but none in code", () => {
  const text = "# Жук\n\nA.\n\n```\n# no heading\n```\n\n### Deep #\nB #1\n#none";
  const shown = markdownBlocksOf(text, { start: 0, end: 3 }).map((block) => {
    if (block.kind === "page") return null;
    if (block.kind === "heading") return `${block.depth} ${block.text}${block.isFound ? " found" : ""}`;
    return text.slice(block.span.start, block.span.end);
  });
  expect(shown).toEqual(["2 Жук found", "A.\n\n```\n# no heading\n```", "3 Deep", "B #1\n#none"]);
});

test("what was found is cut out of the blocks it stands in", () => {
  const text = "😀 before found after";
  const found = foundIn(text, 9, 14);
  expect(partsOf(text, { start: 0, end: text.length }, found)).toEqual(["😀 before ", "found", " after"]);
  expect(partsOf(text, { start: 0, end: 5 }, found)).toEqual(["😀 be", "", ""]);
  expect(partsOf(text, { start: 16, end: text.length }, found)).toEqual(["", "", "after"]);
  expect(foundIn(text, 5, 5)).toBe(null);
  expect(foundIn(text, 500, 600)).toBe(null);
});

test("a long text is cut at lines and nothing of it is lost", () => {
  const text = `${"word ".repeat(300)}\n`.repeat(40) + "😀".repeat(10_000);
  const blocks = blocksOf(text, null, null);
  expect(blocks.length).toBeGreaterThan(5);
  const joined = blocks
    .map((block) => (block.kind === "text" ? text.slice(block.span.start, block.span.end) : ""))
    .join("");
  expect(joined.replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
  for (const block of blocks) {
    if (block.kind !== "text") continue;
    expect(block.span.end - block.span.start).toBeLessThanOrEqual(8000);
    expect(() => encodeURIComponent(text.slice(block.span.start, block.span.end))).not.toThrow();
  }
});

describe("what a block continues", () => {
  const leads = (text: string) =>
    markdownBlocksOf(text, null).flatMap((block) => (block.kind === "text" ? [block.lead] : []));
  const row = (place: number) => `| row ${place} | ${"x".repeat(60)} |\n`;
  const rows = Array.from({ length: 150 }, (_, place) => row(place)).join("");

  test("rows of a table get its head", () => {
    const head = "| Name | Sum |\n| --- | ---: |\n";
    expect(leads(`Before.\n\n${head}${rows}\nAfter.\n`)).toEqual(["", head, ""]);
  });

  test("code gets its fence, until it ends", () => {
    const code = "let a = 1;\n".repeat(1200);
    expect(leads(`\`\`\`ts\n${code}\`\`\`\n\nAfter.\n`)).toEqual(["", "```ts\n", "```ts\n", ""]);
    expect(leads(`~~~\n${code}~~~\n\n${"Words.\n\n".repeat(800)}`)).toEqual(["", "~~~\n", "~~~\n", "", ""]);
  });

  test("paragraphs get nothing", () => {
    expect(leads("Words, and more of them.\n\n".repeat(400))).toEqual(["", "", ""]);
  });
});

test("front matter is shown as metadata, not as text, unless it is cited", () => {
  const text = "---\ntitle: Plan\ntags: [a]\n---\nThe plan.\n";
  const shown = (found: Span | null, of = text) =>
    blocksOf(of, null, found).map((block) =>
      block.kind === "text" ? of.slice(block.span.start, block.span.end) : "",
    );
  expect(shown(null)).toEqual(["The plan."]);
  expect(shown({ start: 4, end: 9 })).toEqual([text.trim()]);
  for (const other of ["---\nText\n---\n", "# A\n---\na: b\n---", "---\na: b\n"])
    expect(shown(null, other)).toEqual([other.trim()]);
});
