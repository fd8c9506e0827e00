/** What is marked in the result of a call: what is looked for in the steps, else what a search through the chats has found there. */
import { splitByWords } from "../../state/knowledge/words.ts";
import type { RunView } from "../../state/run.svelte.ts";

export function lookedFor(view: RunView, call: string): { query: string; split?: typeof splitByWords } {
  const isFound = view.search.trim() === "" && view.found?.call === call;
  return isFound ? { query: view.found?.words ?? "", split: splitByWords } : { query: view.search };
}
