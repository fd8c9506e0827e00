// Where emphasis may open and close, beyond CommonMark: text in Chinese and Japanese has no spaces around marks, and
// models write `**Note:**text` in every script. https://github.com/tats-u/markdown-cjk-friendly has the CJK rules.

const SPACE_OR_END = /[\s*_~]|^$/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const LETTER = /\p{L}/u;
const OPENING = /[\p{Ps}\p{Pi}]/u;
const OPENING_OR_QUOTE = /[\p{Ps}\p{Pi}"']/u;
const CLOSING_OR_QUOTE = /[\p{Pe}\p{Pf}"']/u;

/** Scripts without spaces between words, with their punctuation, and Korean, whose particles follow a word directly. */
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u;

/** A run of marks with the characters around it. */
const RUN = /([^*~])(\*{1,3}|~~)(?=([^*~]))/gu;

/** Whether the mark between the two characters may close, although the one before is punctuation. */
function mayClose(before: string, mark: string, after: string): boolean {
  if (!PUNCTUATION.test(before) || SPACE_OR_END.test(after) || PUNCTUATION.test(after)) return false;
  if (CJK.test(before) || CJK.test(after)) return !OPENING.test(before);
  return mark.length > 1 && LETTER.test(after) && !OPENING.test(before);
}

/** Replaces punctuation before closing marks by letters, for which the rules of CommonMark close. */
export function maskClosers(source: string): string {
  return source.replace(RUN, (all: string, before: string, mark: string, after: string) =>
    mayClose(before, mark, after) ? "a".repeat(before.length) + mark : all,
  );
}

/** A name of Python, as in __init__.py or __len__(). */
export const PYTHON_NAME = /^__[a-z]+__(?=\.\w|\()/;

/** What follows from the text around an opening mark. */
export type Opening = "ordinary" | "never" | "always" | "quoted";

/**
 * How the mark at the start of `source` opens: by CommonMark's rules, not at all, or always. `quoted` is always, but
 * only if the emphasised text ends with a bracket or quote too. `before` are the last two characters before it.
 */
export function openingOf(source: string, before: string): Opening {
  const mark = /^(?:\*{1,3}|~~)/.exec(source)?.[0];
  const last = [...before].at(-1) ?? "";
  if (mark === undefined || SPACE_OR_END.test(last)) return "ordinary";
  const next = String.fromCodePoint(source.codePointAt(mark.length) ?? 32);
  // A product, as in 2*3*4 or a*b*c.
  if (mark === "*" && /[a-z0-9]/i.test(next) && /(?:\d|(?<![\p{L}\p{N}])[a-z])$/iu.test(before))
    return "never";
  if (!PUNCTUATION.test(next) || PUNCTUATION.test(last)) return "ordinary";
  if (CJK.test(last) || CJK.test(next)) return "always";
  return mark.length > 1 && LETTER.test(last) && OPENING_OR_QUOTE.test(next) ? "quoted" : "ordinary";
}

/** Whether the text ends with a bracket or quote. */
export function endsQuoted(text: string): boolean {
  return CLOSING_OR_QUOTE.test([...text].at(-1) ?? "");
}

/** Line breaks between characters that have no spaces between them: without them, the browser would show a space. */
const CJK_BREAK =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60])\n(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff01-\uff60])/gu;

/** Lines that begin like items of a list, though Markdown has no such list. */
const ITEM_BREAK = /\n(?=(?:[•◦▪‣●○]|[a-z]\)|[a-z]\.|\d{1,3}[.)]) )/gi;

/** Joins the lines of Chinese and Japanese text without a space, and breaks before items. The text is escaped HTML. */
export function joinLines(html: string): string {
  return html.includes("\n") ? html.replace(CJK_BREAK, "").replace(ITEM_BREAK, "<br>\n") : html;
}
