/** Groups a graph's relations: by pair for the drawing, by statement for the list. */
import type { Quote, Relation, Subgraph } from "../../api/knowledge.ts";

/** Two related entities, by index, and all statements about them. */
export interface Pair {
  ends: [number, number];
  kinds: string[];
}

export function pairsOf({ entities, relations }: Subgraph): Pair[] {
  const at = new Map(entities.map(({ id }, index) => [id, index]));
  const all = new Map<string, Pair>();
  for (const { source, target, kind } of relations) {
    const [one, other] = [at.get(source), at.get(target)];
    if (one === undefined || other === undefined) continue;
    const ends: [number, number] = one < other ? [one, other] : [other, one];
    const pair = all.get(ends.join()) ?? { ends, kinds: [] };
    if (!pair.kinds.includes(kind)) pair.kinds.push(kind);
    all.set(ends.join(), pair);
  }
  return [...all.values()];
}

/** Identical statements about a pair, with all their quotes. */
export interface Statement {
  key: string;
  relation: Relation;
  quotes: Quote[];
}

export function statementsOf(relations: readonly Relation[]): Statement[] {
  const all = new Map<string, Statement>();
  for (const relation of relations) {
    const key = `${relation.source} ${relation.target} ${relation.kind}`;
    const statement = all.get(key) ?? { key, relation, quotes: [] };
    statement.quotes.push(relation.quote);
    all.set(key, statement);
  }
  return [...all.values()];
}
