/** The report with its sources, as Markdown. */
import { citationMarks } from "../../citation-marks.ts";
import { citedOf, quoteOf } from "../sources.ts";
import { doubtsOf, type Report } from "./words.ts";

export function asMarkdown(report: Report): string {
  const { text, sources, words } = report;
  const lines = citedOf(text, sources).map((source) => {
    const quote = source.quote ? `\n    > ${quoteOf(source)}` : "";
    const doubts = doubtsOf(source, report).map((doubt) => `\n    *${doubt}*`);
    const title = source.title.replace(/([[\]])/g, "\\$1");
    return `- [${source.id}] ${title} <${encodeURI(source.url)}>${quote}${doubts.join("")}`;
  });
  const marked = withDoubts(report);
  return lines.length === 0 ? marked : `${marked}\n\n## ${words.heading}\n\n${lines.join("\n")}\n`;
}

/** The text with a question mark in the marks of unconfirmed sentences. */
function withDoubts({ text, unconfirmed }: Report): string {
  if (unconfirmed.size === 0) return text;
  const counts = new Map<string, number>();
  let marked = "";
  let taken = 0;
  for (const { number, end } of citationMarks(text)) {
    const id = String(number);
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    if (unconfirmed.get(id)?.[count] === undefined) continue;
    marked += `${text.slice(taken, end - 1)}?`;
    taken = end - 1;
  }
  return marked + text.slice(taken);
}
