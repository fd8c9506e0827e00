/** Splits a list of names separated by commas or spaces. */
export function named(text: string): string[] {
  return text.split(/[\s,]+/).filter((name) => name !== "");
}

/** Splits names that may contain spaces, one per line. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
