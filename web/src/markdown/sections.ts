// Groups the blocks of a long text into sections. The browser checks each skippable box for visibility in every frame,
// so it gets groups instead of blocks.

import type { Block } from "./blocks";

/** Neighbouring blocks that are rendered or skipped together. */
export interface Section {
  /** Index of its first block in the document. */
  id: number;
  blocks: readonly Block[];
  /** Whether the next section has begun: later blocks go there. */
  full: boolean;
}

const SECTION_BLOCKS = 16;

/** Groups the blocks into sections. Unchanged sections of `before` keep their identity. */
export function sectionsOf(blocks: readonly Block[], before: readonly Section[] = []): Section[] {
  const sections: Section[] = [];
  for (let start = 0; start < blocks.length;) {
    let end = Math.min(start + SECTION_BLOCKS, blocks.length);
    // A continuation of a long block stays in the section of the previous block.
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
