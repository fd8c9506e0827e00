/** Rows of the form of example prompts. */
import type { Key } from "../../../i18n/index.svelte.ts";
import { startPrompt, storedPrompt, type StartPrompt } from "../../../state/start-prompts.ts";

/** The server's limits. */
export const maxPrompts = 6;
export const maxCharacters = 2000;

export interface PromptRow extends StartPrompt {
  /** Stays with the row when it is moved. */
  id: number;
}

let nextId = 1;

export const rowOf = (stored: string): PromptRow => ({ id: nextId++, ...startPrompt(stored) });
export const emptyRow = (): PromptRow => ({ id: nextId++, title: "", text: "" });

const isEmpty = ({ title, text }: PromptRow) => title.trim() === "" && text.trim() === "";

/** What to send; empty rows are left out. */
export const storedOf = (rows: readonly PromptRow[]): string[] =>
  rows.filter((row) => !isEmpty(row)).map(storedPrompt);

export function faultOf(row: PromptRow): Key | null {
  if (!isEmpty(row) && row.text.trim() === "") return "startPrompts.missing";
  return [...storedPrompt(row)].length > maxCharacters ? "startPrompts.tooLong" : null;
}

export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = list.filter((_, at) => at !== from);
  return [...rest.slice(0, to), ...list.slice(from, from + 1), ...rest.slice(to)];
}
