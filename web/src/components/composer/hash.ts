/** The `#word` that is being typed, by which a collection is pointed to. */

export interface Hash {
  /** Where the `#` stands. */
  start: number;
  end: number;
  /** What follows it. */
  word: string;
}

/** The one that ends at the caret. A heading of Markdown is none: a blank follows its `#`. */
export function hashAt(text: string, caret: number): Hash | null {
  const match = /(?:^|\s)#([^\s#]*)$/u.exec(text.slice(0, caret));
  if (!match) return null;
  const word = match[1] ?? "";
  return { start: caret - word.length - 1, end: caret, word };
}

/** Those whose name has the word in it, those that begin with it first. */
export function fitting<T extends { name: string }>(list: T[], word: string): T[] {
  const wanted = word.toLocaleLowerCase();
  const place = ({ name }: T) => name.toLocaleLowerCase().indexOf(wanted);
  const begins = (one: T) => (place(one) === 0 ? 0 : 1);
  return list.filter((one) => place(one) >= 0).sort((a, b) => begins(a) - begins(b));
}

/** The text without it, and where the caret is then. */
export function without(text: string, { start, end }: Hash): { text: string; caret: number } {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const rest = before.endsWith(" ") && after.startsWith(" ") ? after.slice(1) : after;
  return { text: before + rest, caret: start };
}
