// Groups the blocks of a long text. The browser asks of each box that it may skip whether it is in view, in every
// frame, so the boxes it skips are groups and not blocks.

import type { Block } from "./blocks";

/** Neighbouring blocks that are shown or skipped together. */
export interface Section {
  /** Place of its first block in the document. */
  id: number;
  blocks: readonly Block[];
  /** Whether the next section has begun: what is left to come goes there. */
  full: boolean;
}

const SECTION_BLOCKS = 16;

/** Cuts the blocks into sections. Those of `before` that have not changed are the same objects. */
export function sectionsOf(blocks: readonly Block[], before: readonly Section[] = []): Section[] {
  const sections: Section[] = [];
  for (let start = 0; start < blocks.length;) {
    let end = Math.min(start + SECTION_BLOCKS, blocks.length);
    // A piece of a long block stays with the piece above it.
    while (blocks[end]?.joined) end += 1;
    const section = { id: start, blocks: blocks.slice(start, end), full: end < blocks.length };
    const earlier = before[sections.length];
    sections.push(earlier && isSame(earlier, section) ? earlier : section);
    start = end;
  }
  return sections;
}

function isSame(one: Section, other: Section): boolean {
  return (
    one.full === other.full &&
    one.blocks.length === other.blocks.length &&
    one.blocks.every((block, at) => block === other.blocks[at])
  );
}
