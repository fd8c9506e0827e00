// Streaming Markdown: the component, and the engine for callers that need only blocks.

export { default as Markdown } from "./Markdown.svelte";
export { StreamMarkdown } from "./engine";
export { formulasDone } from "./formulas";
export type { Block, CodeBlock, HtmlBlock, TableBlock, TextBlock } from "./blocks";
export { englishLabels, type AlertKind, type MarkdownLabels } from "./labels";
