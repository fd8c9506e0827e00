/** How the text of a document is shown, by its file name. */

/** Documents whose text is Markdown: written in it, or converted when the file was parsed. */
const MARKDOWN =
  /\.(?:md|markdown|doc[xm]?|ppt[xm]?|xls[xm]?|o[dt][tsp]|fod[tsp]|rtf|epub|x?html?|mht(?:ml)?|eml|msg|ipynb|csv|tsv|tab|psv)$/i;

/** Files on the web whose text is kept as it is; anything else is a page, which is converted. */
const PLAIN_ON_WEB =
  /\.(?:txt|text|log|pdf|jsonl?|xml|ya?ml|toml|ini|tex|css|sql|sh|ps1|[ch]|cc|cpp|cs|go|java|jsx?|kt|lua|pl|py|rb|rs|swift|tsx?)$/i;

export const isMarkdown = (name: string): boolean => MARKDOWN.test(name);
export const isPdf = (name: string): boolean => /\.pdf$/i.test(name);

export function isMarkdownOnWeb(url: string): boolean {
  const path = URL.canParse(url) ? new URL(url).pathname : url;
  return !PLAIN_ON_WEB.test(path);
}
