/** Line diff of two texts, in the form in which the server sends diffs. */
import type { DiffLine } from "../api/types.ts";

/** Above this number of compared pairs of lines, the changed part is shown as removed and added as a whole. */
const maxPairs = 1_000_000;

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

export function lineDiff(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old.at(-1 - end) === now.at(-1 - end)) end += 1;

  const same = (oldAt: number, newAt: number): DiffLine => ({
    kind: "same",
    old: oldAt + 1,
    new: newAt + 1,
    text: old[oldAt] ?? "",
  });
  const lines: DiffLine[] = [];
  for (let at = 0; at < start; at += 1) lines.push(same(at, at));
  let [oldAt, newAt] = [start, start];
  const remove = (until: number) => {
    for (; oldAt < until; oldAt += 1) lines.push({ kind: "removed", old: oldAt + 1, text: old[oldAt] ?? "" });
  };
  const add = (until: number) => {
    for (; newAt < until; newAt += 1) lines.push({ kind: "added", new: newAt + 1, text: now[newAt] ?? "" });
  };
  for (const pair of commonLines(old.slice(start, old.length - end), now.slice(start, now.length - end))) {
    remove(start + pair.old);
    add(start + pair.now);
    lines.push(same(oldAt, newAt));
    oldAt += 1;
    newAt += 1;
  }
  remove(old.length - end);
  add(now.length - end);
  for (; oldAt < old.length; oldAt += 1, newAt += 1) lines.push(same(oldAt, newAt));
  return lines;
}

/** A longest common subsequence, as pairs of line indexes. */
function commonLines(old: string[], now: string[]): { old: number; now: number }[] {
  if (old.length * now.length > maxPairs) return [];
  const width = now.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const lengthAt = (oldAt: number, nowAt: number) => lengths[oldAt * width + nowAt] ?? 0;
  for (let oldAt = old.length - 1; oldAt >= 0; oldAt -= 1) {
    for (let nowAt = now.length - 1; nowAt >= 0; nowAt -= 1) {
      lengths[oldAt * width + nowAt] =
        old[oldAt] === now[nowAt]
          ? lengthAt(oldAt + 1, nowAt + 1) + 1
          : Math.max(lengthAt(oldAt + 1, nowAt), lengthAt(oldAt, nowAt + 1));
    }
  }
  const pairs: { old: number; now: number }[] = [];
  let [oldAt, nowAt] = [0, 0];
  while (oldAt < old.length && nowAt < now.length) {
    if (old[oldAt] === now[nowAt]) {
      pairs.push({ old: oldAt, now: nowAt });
      oldAt += 1;
      nowAt += 1;
    } else if (lengthAt(oldAt + 1, nowAt) >= lengthAt(oldAt, nowAt + 1)) oldAt += 1;
    else nowAt += 1;
  }
  return pairs;
}

/** The changes with some unchanged lines around them; `null` stands for those left out. */
export function withContext(lines: DiffLine[], context = 3): (DiffLine | null)[] {
  const isNear = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.kind !== "same") isNear.fill(true, Math.max(0, at - context), at + context + 1);
  });
  const shown: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    // A gap is worth its row only if it hides more than one line.
    if (isNear[at] || (isNear[at - 1] && isNear[at + 1])) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  });
  return shown;
}
