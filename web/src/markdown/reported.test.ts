// Each reported text is rendered as in its golden file `reported/NAME.html`, whole and in pieces. The files are written
// anew by `npx vitest run reported -u`: read the difference.

import { expect, test, vi } from "vitest";
import { tokenPieces } from "./answer.fixture";
import type { Block } from "./blocks";
import { StreamMarkdown } from "./engine";
import { reported } from "./reported.fixture";

vi.mock("./sanitize", () => ({
  sanitizeMarkdown: (html: string) => html,
  sanitizeRows: (html: string) => html,
}));

/** A longer rendering is cut in the middle. */
const MAX_CHARS = 4000;
const MAX_UNIT_CHARS = 48;
const MIN_REPEATS = 12;

/** Writes a piece that is repeated as `⟨piece × count⟩`. */
function compact(text: string): string {
  let short = "";
  for (let at = 0; at < text.length;) {
    const length = unitAt(text, at);
    const unit = text.slice(at, at + length);
    let end = at + length;
    while (length > 0 && text.startsWith(unit, end)) end += length;
    const count = length > 0 ? (end - at) / length : 0;
    short += count >= MIN_REPEATS ? `⟨${unit} × ${count}⟩` : text.charAt(at);
    at = count >= MIN_REPEATS ? end : at + 1;
  }
  if (short.length <= MAX_CHARS) return short;
  return `${short.slice(0, MAX_CHARS / 2)}\n⟨…⟩\n${short.slice(-MAX_CHARS / 4)}`;
}

/** Length of the shortest piece at this position that is repeated, or 0. */
function unitAt(text: string, at: number): number {
  for (let length = 1; length <= MAX_UNIT_CHARS; length++) {
    const unit = text.slice(at, at + length);
    if (text.startsWith(unit.repeat(MIN_REPEATS), at)) return length;
  }
  return 0;
}

/** The blocks as HTML, without what each link, button and block has. */
function shown(blocks: readonly Block[]): string {
  const all = blocks.map((block) => {
    const joined = block.joined ? "(joined) " : "";
    const rows = block.kind === "html" ? block.html.trimEnd() : block.chunks.join("") + block.rest;
    if (block.kind === "html") return joined + rows;
    if (block.kind === "table")
      return `${joined}<table>${block.head}\n${rows.replaceAll("</tr><tr>", "</tr>\n<tr>")}</table>`;
    return `${joined}(${block.kind}${block.kind === "code" ? ` ${block.lang}` : ""})\n${rows}`;
  });
  return all
    .join("\n\n")
    .replaceAll(' target="_blank" rel="noreferrer noopener"', "")
    .replaceAll(' type="button"', "");
}

function read(pieces: readonly string[]): readonly Block[] {
  const engine = new StreamMarkdown();
  for (const piece of pieces) {
    engine.append(piece);
    engine.flush();
  }
  engine.finish();
  return engine.blocks;
}

test.each(Object.entries(reported))("%s", async (name, text) => {
  const blocks = read([text]);
  await expect(`${compact(shown(blocks))}\n`).toMatchFileSnapshot(`./reported/${name}.html`);
  if (text.length < 10_000) expect(read(tokenPieces(text, 3))).toEqual(blocks);
});
