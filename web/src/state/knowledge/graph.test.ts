/** Grouping of a graph's relations. */
import { expect, test } from "vitest";
import type { Relation } from "../../api/knowledge.ts";
import { pairsOf, statementsOf } from "./graph.ts";

const entity = (id: string) => ({ id, name: id, kind: "person" as const, mentions: 1, relations: 1 });
const said = (source: string, kind: string, target: string, start = 0): Relation => ({
  source,
  target,
  kind,
  quote: { document: "d", name: "d.md", start, end: start + 1, text: "q" },
});

test("a pair is one line, in whichever direction and however much is said", () => {
  const relations = [
    said("a", "knows", "b"),
    said("b", "likes", "a"),
    said("a", "knows", "b", 5),
    said("a", "x", "gone"),
  ];
  expect(pairsOf({ entities: [entity("a"), entity("b")], relations })).toEqual([
    { ends: [0, 1], kinds: ["knows", "likes"] },
  ]);
});

test("the same statement is told once with all its quotes", () => {
  const statements = statementsOf([
    said("a", "knows", "b"),
    said("b", "knows", "a"),
    said("a", "knows", "b", 5),
  ]);
  expect(statements.map(({ quotes }) => quotes.length)).toEqual([2, 1]);
});
