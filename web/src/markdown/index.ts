// Streaming markdown: the component, and the engine for those who want blocks only.

export { default as Markdown } from "./Markdown.svelte";
export { StreamMarkdown } from "./engine";
export { formulasDone } from "./formulas";
export type { Block, CodeBlock, HtmlBlock, TableBlock, TextBlock } from "./blocks";
export { englishLabels, type MarkdownLabels } from "./labels";
