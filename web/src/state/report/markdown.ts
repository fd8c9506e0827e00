/** The report with its sources, as Markdown. */
import type { Source } from "../../api/events.ts";
import { citedOf, quoteOf } from "../sources.ts";
import type { SourceWords } from "./words.ts";

export function asMarkdown(text: string, sources: readonly Source[], words: SourceWords): string {
  const lines = citedOf(text, sources).map((source) => {
    const quote = source.quote ? `\n    > ${quoteOf(source)}` : "";
    const mark = source.verified === false ? `\n    *${words.unverified}*` : "";
    return `- [${source.id}] ${source.title.replace(/([[\]])/g, "\\$1")} <${encodeURI(source.url)}>${quote}${mark}`;
  });
  return lines.length === 0 ? text : `${text}\n\n## ${words.heading}\n\n${lines.join("\n")}\n`;
}
