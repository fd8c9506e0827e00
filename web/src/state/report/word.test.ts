/** A report as a Word file: the unpacked content, and working links. */
import { unzipSync, strFromU8 } from "fflate";
import { expect, test } from "vitest";
import type { Source } from "../../api/events.ts";
import type { UnconfirmedMarks } from "../unconfirmed.ts";
import { asWord } from "./word.ts";

const sources: Source[] = [
  { id: "1", title: "Harbour & co", url: "https://a.example/1?a=1&b=2", quote: "costs 400 euros" },
  { id: "2", title: "Not cited", url: "https://a.example/2" },
  { id: "3", title: "Song", url: "https://a.example/3", verified: false },
];

const words = {
  heading: "Источники",
  unverified: "Не проверено.",
  unconfirmed: { number: "Нет числа.", negation: "Отрицание.", name: "Нет имени.", quotation: "Нет слов." },
};

async function xmlOf(text: string, unconfirmed: UnconfirmedMarks = new Map()): Promise<string> {
  const blob = await asWord({ title: "T", text, sources, unconfirmed, words });
  const files = unzipSync(new Uint8Array(await blob.arrayBuffer()));
  return strFromU8(files["word/document.xml"] ?? new Uint8Array());
}

test("what Markdown says is there in Word's own terms", async () => {
  const xml = await xmlOf(
    "# Вывод\n\nIt costs **400 euros** [1], `x < y`.\n\n1. one\n   - deep\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n```\na\nb\n```\n",
  );
  const parsed = new DOMParser().parseFromString(xml, "application/xml");
  expect(parsed.querySelector("parsererror")).toBeNull();
  expect(xml).toContain("Вывод");
  expect(xml).toContain('w:val="Heading1"');
  expect(xml).toMatch(/<w:b\/>.*400 euros/);
  expect(xml).toContain("x &lt; y");
  expect(xml).toContain("<w:tbl>");
  expect(xml).toContain('w:anchor="source-1"');
  expect(xml).toContain("Harbour &amp; co");
  expect(xml).toContain("costs 400 euros");
  expect(xml).not.toContain("Not cited");
});

test("a source that no quote shows says so", async () => {
  expect(await xmlOf("It sings [3].")).toContain("Не проверено.");
  expect(await xmlOf("It costs 400 euros [1].")).not.toContain("Не проверено.");
});

test("hostile text makes no broken file and no link that runs", async () => {
  const xml = await xmlOf(
    "a\u0000b\u000b \ud800 [x](javascript:alert(1)) ]]> <script> [7]\n\n" + "> ".repeat(300) + "deep",
  );
  expect(new DOMParser().parseFromString(xml, "application/xml").querySelector("parsererror")).toBeNull();
  expect(xml).not.toContain("javascript:");
  expect(xml).toContain("&lt;script&gt;");
  expect(xml).not.toContain('w:anchor="source-7"');
});

test("a sentence that its quote does not confirm is marked, and the source says why", async () => {
  const xml = await xmlOf("It costs 400 euros [1], or 500 [1].", new Map([["1", [undefined, "number"]]]));
  expect(xml.match(/\[1\??\](?=<)/g)).toEqual(["[1]", "[1?]"]);
  expect(xml).toContain("[1?] Нет числа.");
});
