/** Filters frames in the debug panel by type, agent and text. */
import type { Frame } from "./frames.ts";

/** What is shown unless flipped: everything, nothing, or everything but deltas. */
export type Base = "all" | "none" | "wholes";

export interface Visibility {
  base: Base;
  flipped: ReadonlySet<string>;
}

export const everything: Visibility = { base: "all", flipped: new Set() };

/** Whether a type is a delta of text, reasoning or arguments. */
export const isPiece = (type: string): boolean =>
  /delta|^token$|_content$|_args$|_chunk$|^chunk\.(content|reasoning)/i.test(type);

export function shows({ base, flipped }: Visibility, name: string): boolean {
  const byItself = base === "all" || (base === "wholes" && !isPiece(name));
  return byItself !== flipped.has(name);
}

export function flip({ base, flipped }: Visibility, name: string): Visibility {
  const next = new Set(flipped);
  if (!next.delete(name)) next.add(name);
  return { base, flipped: next };
}

export interface Filter {
  types: Visibility;
  agents: Visibility;
  query: string;
}

/** The frames that passed so far, which can be extended incrementally. */
export interface Selection {
  filter: Filter;
  frames: Frame[];
  /** Number of frames examined, and the last of them. */
  seen: number;
  last: Frame | undefined;
}

/** How the query may be spelled in JSON: as is, escaped, and without the space of indented JSON. */
function spellings(query: string): string[] {
  const words = query.trim().toLowerCase();
  if (words === "") return [];
  const escaped = JSON.stringify(words).slice(1, -1);
  return [...new Set([words, escaped, words.replace(/": /g, '":')])];
}

/** The frames that pass. If only new frames were added, those `before` has examined are not examined again. */
export function select(all: readonly Frame[], filter: Filter, before?: Selection): Selection {
  const isContinued =
    before?.filter === filter && (before.seen === 0 || all[before.seen - 1] === before.last);
  const words = spellings(filter.query);
  const passes = (frame: Frame) =>
    shows(filter.types, frame.type) && shows(filter.agents, frame.agent) && holds(frame, words);
  const fresh = all.slice(isContinued ? before.seen : 0).filter(passes);
  const frames = isContinued ? (fresh.length > 0 ? [...before.frames, ...fresh] : before.frames) : fresh;
  return { filter, frames, seen: all.length, last: all.at(-1) };
}

function holds(frame: Frame, words: string[]): boolean {
  if (words.length === 0) return true;
  const hay = frame.data.toLowerCase();
  return words.some((word) => hay.includes(word));
}

/** Index of the query in a frame's data; -1 if not found. */
export function hitIn(data: string, query: string): number {
  const hay = data.toLowerCase();
  for (const word of spellings(query)) {
    const at = hay.indexOf(word);
    if (at >= 0) return at;
  }
  return -1;
}
