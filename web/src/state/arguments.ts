/** Formats a tool call's arguments, in one line and in full, and its result in one line. */

/** Most informative arguments, by the names tools usually give them. */
const tellingNames = [
  "query",
  "pattern",
  "command",
  "code",
  "url",
  "path",
  "question",
  "description",
  "message",
  "text",
  "name",
];
const maxLineLength = 160;

/** The argument that best describes the call; empty if there is none. */
export function argumentLine(value: unknown): string {
  if (typeof value === "string") return oneLine(value);
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value !== "object" || value === null) return "";
  const entries = Object.entries(value);
  const texts = entries.filter(([, item]) => typeof item === "string" && item !== "") as [string, string][];
  for (const name of tellingNames) {
    const found = texts.find(([key]) => key === name);
    if (found) return oneLine(found[1]);
  }
  const [first] = texts;
  if (first) return oneLine(first[1]);
  return oneLine(
    entries
      .map(([key, item]) =>
        Array.isArray(item) ? `${key}: ${item.length}` : `${key}: ${JSON.stringify(item)}`,
      )
      .join(", "),
  );
}

/** The same for incomplete JSON: the first string value so far. */
export function partialLine(json: string): string {
  return unescaped(/:\s*"((?:[^"\\]|\\.)*)/.exec(json)?.[1]);
}

/** Length of the JSON in which a named argument is searched: the rest may be a long text that is still growing. */
const maxSearched = 2000;

/** A string argument in incomplete JSON, as far as it is written. */
export function partialArgument(json: string, name: string): string {
  const pattern = new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`);
  return unescaped(pattern.exec(json.slice(0, maxSearched))?.[1]);
}

const unescaped = (text = "") => oneLine(text.replace(/\\n/g, " ").replace(/\\(.)/g, "$1"));

export function oneLine(text: string): string {
  const line = text
    .slice(0, maxLineLength * 2)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line;
}

/** The arguments in full: indented JSON, or the raw text if it is not JSON. */
export function argumentsText(value: unknown, written: string): string {
  if (value === undefined) return written;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** The source code in a call that runs a program, and the other arguments; `null` for other calls. */
export function programOf(value: unknown): { program: string; rest: Record<string, unknown> } | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const { code, command, ...rest } = value as Record<string, unknown>;
  if (typeof code === "string" && command === undefined) return { program: code, rest };
  if (typeof command === "string" && code === undefined) return { program: command, rest };
  return null;
}

/** Maximum pattern length accepted by the server, bytes. */
const maxPatternLength = 10_000;

/** A pattern that matches only this value; in patterns `*` matches any text. */
export function exactPattern(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replace(/[\\*]/g, "\\$&");
}

export const isPattern = (text: string) => new TextEncoder().encode(text).length <= maxPatternLength;

const maxPreviewChars = 200;

/**
 * Preview of a result in one line of at most 200 characters; empty if there is nothing to show. For a Python traceback,
 * the error itself. `isPart` means that the result is longer than this.
 */
export function previewOf(result: string, isPart = false): string {
  const text = (errorOf(result) ?? result).trim().replace(/\s+/g, " ");
  const chars = [...text];
  if (chars.length > maxPreviewChars) return `${chars.slice(0, maxPreviewChars).join("")}...`;
  return isPart ? `${text}...` : text;
}

/** How much of a Markdown text is read for its preview. */
const maxMarkdownChars = 2000;

/** The beginning of a Markdown text without its marks, for a preview. */
export function withoutMarks(markdown: string): string {
  return markdown
    .slice(0, maxMarkdownChars)
    .replace(/^ {0,3}(?:#{1,6}|>|[-*+]|\d{1,9}[.)])[ \t]+/gm, "")
    .replace(/^ {0,3}(?:```|~~~).*$/gm, "")
    .replace(/!?\[([^[\]]*)\]\([^()\s]*\)/g, "$1")
    .replace(/(\*\*|`)(?=\S)([^\n]*?\S)\1/g, "$2");
}

/** The line of a Python traceback with the error. */
function errorOf(result: string): string | undefined {
  const lines = result.split("\n");
  const begin = lines.findIndex((line) => line.startsWith("Traceback (most recent call last)"));
  return begin < 0 ? undefined : lines.slice(begin + 1).find((line) => /^[\w.]+(: |$)/.test(line));
}
