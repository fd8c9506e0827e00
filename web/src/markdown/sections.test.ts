/** Splitting a text into sections that are rendered or skipped together. */
import { expect, test } from "vitest";
import type { Block } from "./blocks";
import { sectionsOf } from "./sections";

const block = (id: number, joined = false): Block => ({
  kind: "html",
  id,
  joined,
  type: "paragraph",
  html: "",
});
const blocks = (count: number) => Array.from({ length: count }, (_, id) => block(id));

test("all blocks are there once, in order", () => {
  for (const count of [0, 1, 15, 16, 17, 100]) {
    const all = blocks(count);
    expect(sectionsOf(all).flatMap((section) => section.blocks)).toEqual(all);
    expect(sectionsOf(all)).toHaveLength(Math.ceil(count / 16));
  }
});

test("what has not changed keeps its identity, what has does not", () => {
  const all = blocks(40);
  const before = sectionsOf(all);
  const after = sectionsOf([...all.slice(0, 39), block(39), block(40)], before);
  expect(after[0]).toBe(before[0]);
  expect(after[1]).toBe(before[1]);
  expect(after[2]).not.toBe(before[2]);
  const changed = sectionsOf([block(0), ...all.slice(1)], before);
  expect(changed[0]).not.toBe(before[0]);
  expect(changed[1]).toBe(before[1]);
  expect(sectionsOf(all.slice(0, 20), before)[1]).not.toBe(before[1]);
  const sixteen = sectionsOf(all.slice(0, 16));
  expect(sectionsOf(all, sixteen)[0]).not.toBe(sixteen[0]);
});

test("all but the last are full", () => {
  expect(sectionsOf(blocks(16)).map(({ full }) => full)).toEqual([false]);
  expect(sectionsOf(blocks(33)).map(({ full }) => full)).toEqual([true, true, false]);
});

test("the pieces of a long block stay together", () => {
  const all = [...blocks(14), ...Array.from({ length: 20 }, (_, n) => block(14 + n, n > 0)), block(34)];
  const sections = sectionsOf(all);
  expect(sections.map((section) => section.blocks.length)).toEqual([34, 1]);
});
