/** How the text of a document is shown, by its file name. */

/** Documents whose text is Markdown: written in it, or converted when the file was parsed. */
const MARKDOWN =
  /\.(?:md|markdown|doc[xm]|ppt[xm]|xls[xm]|o[dt][tsp]|fod[tsp]|rtf|epub|x?html?|mht(?:ml)?|eml|msg|ipynb|csv|tsv|tab|psv)$/i;

export const isMarkdown = (name: string): boolean => MARKDOWN.test(name);
export const isPdf = (name: string): boolean => /\.pdf$/i.test(name);
