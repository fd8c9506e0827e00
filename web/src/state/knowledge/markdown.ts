/** Parts of a Markdown text: as texts of their own, and without the syntax. */

/** Adds what an earlier part began. A list that is cut inside keeps its items, which would otherwise be code. */
export function continued(source: string, lead: string): string {
  const indent = /^ +(?=(?:[-*+]|\d{1,9}[.)]) )/.exec(source)?.[0].length ?? 0;
  if (indent === 0 || lead !== "") return lead + source;
  const lines = source.split("\n");
  const outer = lines.findIndex((line) => line.trim() !== "" && !line.startsWith(" ".repeat(indent)));
  const inner = outer < 0 ? lines.length : outer;
  return lines.map((line, place) => (place < inner ? line.slice(indent) : line)).join("\n");
}

/** With single spaces in place of line breaks. */
export const inOneLine = (text: string) => text.replace(/\s+/g, " ").trim();

/** A line of Markdown without its syntax. */
export function lineInWords(line: string): string {
  const cells = /^\s*\|(.*?)\|?\s*$/.exec(line)?.[1];
  if (cells !== undefined && /^[\s:|-]*$/.test(cells)) return "";
  const words = cells?.split("|").map((cell) => cell.trim()).join(" · ") ?? line; // prettier-ignore
  return inOneLine(
    words
      .replace(/^\s*(?:#{1,6}|[-*+]|>)\s+/, "")
      .replace(/!?\[([^\]]*)\]\([^)]*\)?/g, "$1")
      .replace(/(\*\*|__|`)(\S(?:.*?\S)?)\1/g, "$2")
      .replace(/\\([\\`*_{}[\]()#+.!|>-])/g, "$1"),
  );
}
