/** A `#word` being typed, which references a collection. */

export interface Hash {
  /** Index of the `#`. */
  start: number;
  end: number;
  /** The text after the `#`. */
  word: string;
}

/** The `#word` that ends at the caret. A Markdown heading does not match: a space follows its `#`. */
export function hashAt(text: string, caret: number): Hash | null {
  const match = /(?:^|\s)#([^\s#]*)$/u.exec(text.slice(0, caret));
  if (!match) return null;
  const word = match[1] ?? "";
  return { start: caret - word.length - 1, end: caret, word };
}

/** Items whose name contains the word, those that start with it first. */
export function fitting<T extends { name: string }>(list: T[], word: string): T[] {
  const wanted = word.toLocaleLowerCase();
  const place = ({ name }: T) => name.toLocaleLowerCase().indexOf(wanted);
  const begins = (one: T) => (place(one) === 0 ? 0 : 1);
  return list.filter((one) => place(one) >= 0).sort((a, b) => begins(a) - begins(b));
}

/** The text without the `#word`, and the new caret position. */
export function without(text: string, { start, end }: Hash): { text: string; caret: number } {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const rest = before.endsWith(" ") && after.startsWith(" ") ? after.slice(1) : after;
  return { text: before + rest, caret: start };
}
