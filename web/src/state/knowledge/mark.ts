/** Marks ranges of text in the document. */
import type { PieceRange } from "./passage.ts";

/** Wraps the ranges of the text nodes in marks, and returns these in order. */
export function markIn(
  nodes: readonly (Node | null | undefined)[],
  ranges: readonly PieceRange[],
): HTMLElement[] {
  const marks: HTMLElement[] = [];
  // From the end: an earlier range of the same node keeps its place.
  for (const { piece, start, end } of ranges.toReversed()) {
    const node = nodes[piece];
    if (!(node instanceof Text) || start >= end || end > node.length) continue;
    const part = node.splitText(start);
    part.splitText(end - start);
    const mark = document.createElement("mark");
    mark.tabIndex = -1;
    part.replaceWith(mark);
    mark.append(part);
    marks.unshift(mark);
  }
  return marks;
}
