/** Shows a tool call's arguments: in one line, and in full. */

/** The argument that says most, by the names tools usually give it. */
const tellingNames = [
  "query",
  "pattern",
  "command",
  "url",
  "path",
  "question",
  "description",
  "message",
  "text",
  "name",
];
const longestLine = 160;

/** The one argument that tells what a call is about; empty where there is none. */
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

/** The same from JSON that is still being written: the first text value so far. */
export function partialLine(json: string): string {
  const found = /:\s*"((?:[^"\\]|\\.)*)/.exec(json);
  return found?.[1] ? oneLine(found[1].replace(/\\n/g, " ").replace(/\\(.)/g, "$1")) : "";
}

function oneLine(text: string): string {
  const line = text
    .slice(0, longestLine * 2)
    .replace(/\s+/g, " ")
    .trim();
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** The arguments in full: indented JSON, or the text itself where it was not JSON. */
export function argumentsText(value: unknown, written: string): string {
  if (value === undefined) return written;
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Longer values, and those of several lines, are left open: nobody sends just the same text twice. */
const longestExact = 300;

/** A pattern that only this value fits, where it is short; `*` stands for any text in patterns. */
export function exactPattern(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length > longestExact || text.includes("\n")) return "*";
  return text.replace(/[\\*]/g, "\\$&");
}
