/** Names as people type them: with commas or blanks between them. */
export function named(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== "");
}

/** Names that have blanks in them, each on a line of its own. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
