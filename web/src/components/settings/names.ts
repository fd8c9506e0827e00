/** Names as people type them: with commas or blanks between them. */
export function named(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== "");
}
