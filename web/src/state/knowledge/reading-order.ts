/** Order in which the runs of a PDF page are read. Many programs write lines of Arabic and Hebrew from left to right. */

/** A run of text on a page; `y` grows upwards, as in PDFs. */
export interface Run {
  str: string;
  dir: string;
  x: number;
  y: number;
  height: number;
}

/** Indexes of the runs: as they are written, but lines with right-to-left text from the right. */
export function readingOrder(runs: readonly Run[]): number[] {
  const order: number[] = [];
  for (let start = 0; start < runs.length;) {
    const end = endOfLine(runs, start);
    const line = Array.from({ length: end - start }, (_, place) => start + place);
    order.push(...(line.some((index) => runs[index]?.dir === "rtl") ? fromRight(runs, line) : line));
    start = end;
  }
  return order;
}

function endOfLine(runs: readonly Run[], start: number): number {
  const first = runs[start];
  if (!first) return runs.length;
  let height = first.height;
  let end = start + 1;
  for (; end < runs.length; end += 1) {
    const run = runs[end];
    if (!run) break;
    height = Math.max(height, run.height);
    if (Math.abs(run.y - first.y) > height / 2) break;
  }
  return end;
}

/** From the right, with the parts in between that are read from the left, such as numbers and Latin words, as they are. */
function fromRight(runs: readonly Run[], line: number[]): number[] {
  const sorted = line.toSorted((one, other) => (runs[other]?.x ?? 0) - (runs[one]?.x ?? 0));
  const order: number[] = [];
  let fromLeft: number[] = [];
  for (const index of sorted) {
    const run = runs[index];
    if (run?.dir !== "rtl" && /[\p{L}\p{N}]/u.test(run?.str ?? "")) fromLeft.unshift(index);
    else {
      order.push(...fromLeft, index);
      fromLeft = [];
    }
  }
  return [...order, ...fromLeft];
}
