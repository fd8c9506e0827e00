/** A part of a Markdown text as a text of its own. */

/** Adds what an earlier part began. A list that is cut inside keeps its items, which would otherwise be code. */
export function continued(source: string, lead: string): string {
  const indent = /^ +(?=(?:[-*+]|\d{1,9}[.)]) )/.exec(source)?.[0].length ?? 0;
  if (indent === 0 || lead !== "") return lead + source;
  const lines = source.split("\n");
  const outer = lines.findIndex((line) => line.trim() !== "" && !line.startsWith(" ".repeat(indent)));
  const inner = outer < 0 ? lines.length : outer;
  return lines.map((line, place) => (place < inner ? line.slice(indent) : line)).join("\n");
}
