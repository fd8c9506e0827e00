// Cuts words that take browsers quadratic time to lay out. Nothing is added to the text.

/** A base character with this many marks is one glyph cluster, which the browser shapes again for each mark. */
const MARKS = /[\p{M}\p{Emoji_Modifier}\u200c\u200d]{64}/gu;
/** The letters of a right-to-left word join, so that each line of it is shaped up to its end. */
const JOINED = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{256}/g;
const LONG = new RegExp(`${MARKS.source}|${JOINED.source}`, "u");

export function hasLongWord(text: string): boolean {
  return LONG.test(text);
}

/** Cuts the long words between the tags of the HTML; a `>` in its attributes is escaped. */
export function cutLongWords(html: string): string {
  if (!hasLongWord(html)) return html;
  return html.replace(/(<[^>]*>)|[^<]+/g, (text, tag?: string) =>
    tag === undefined
      ? text.replace(MARKS, '<span class="md-cut">$&</span>').replace(JOINED, "$&<wbr>")
      : text,
  );
}
