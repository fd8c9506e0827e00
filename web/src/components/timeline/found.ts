/** What is highlighted in a tool result: the search in the steps, else the chat search hit. */
import { splitByWords } from "../../state/knowledge/words.ts";
import type { RunView } from "../../state/run.svelte.ts";

export function lookedFor(view: RunView, call: string): { query: string; split?: typeof splitByWords } {
  const isFound = view.search.trim() === "" && view.found?.call === call;
  return isFound ? { query: view.found?.words ?? "", split: splitByWords } : { query: view.search };
}
