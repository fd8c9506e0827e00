/** Makes identifiers of tools and their arguments readable. */

const acronyms = new Set([
  "api",
  "csv",
  "html",
  "http",
  "id",
  "ip",
  "json",
  "pdf",
  "sql",
  "uri",
  "url",
  "xml",
]);

/** The words of `snake_case`, `kebab-case` and `camelCase`, in lower case but for acronyms. */
function wordsOf(identifier: string): string[] {
  return identifier
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .split(/[\s_.\-/]+/)
    .filter(Boolean)
    .map((word) => (acronyms.has(word.toLowerCase()) ? word.toUpperCase() : word.toLowerCase()));
}

const capitalised = (text: string) => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());

/** `due_date` and `dueDate` as “Due date”. */
export function readable(identifier: string): string {
  return capitalised(wordsOf(identifier).join(" ")) || identifier;
}

/** Verbs whose object is one thing. */
const verbs = new Set(
  (
    "add archive assign book cancel close copy create delete edit fetch get make merge move open post publish " +
    "read remove rename reopen replace save schedule send share submit update upload write"
  ).split(" "),
);
const uncountable = new Set(
  "access code content data feedback history info information mail metadata text".split(" "),
);

/** `create_ticket` as “Create a ticket”. */
export function actionOf(tool: string): string {
  const [verb = "", ...object] = wordsOf(tool);
  const last = object.at(-1) ?? "";
  const isOne = verbs.has(verb) && last !== "" && !/s$/i.test(last) && !uncountable.has(last);
  if (!isOne) return readable(tool);
  const [next = ""] = object;
  const article = /^[aeio]|^u(?!ser|se|ni|r)/.test(next) ? "an" : "a";
  return capitalised([verb, article, ...object].join(" "));
}

/** Characters that hide or reorder what is around them, and control characters other than tabs and line breaks. */
const hidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A text with its hidden characters as their code points, so that nothing is approved unseen. */
export const unhidden = (text: string) =>
  text.replace(hidden, (one) => `⟨U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
