/** Search in a run's steps. */
import { said } from "../i18n/index.svelte.ts";
import type { NodeId, TimelineNode } from "./nodes.ts";

export interface Piece {
  text: string;
  hit: boolean;
}

/** Maximum number of highlighted hits per text; a single letter in a 50 kB result would freeze the page. */
const maxHits = 200;

/** Splits a text into hits and the text between them; case-insensitive. */
export function splitByHits(text: string, query: string): Piece[] {
  const needle = query.trim().toLowerCase();
  if (needle === "") return [{ text, hit: false }];
  const hay = text.toLowerCase();
  const pieces: Piece[] = [];
  let from = 0;
  for (let hits = 0; hits < maxHits; hits += 1) {
    const at = hay.indexOf(needle, from);
    if (at < 0) break;
    if (at > from) pieces.push({ text: text.slice(from, at), hit: false });
    pieces.push({ text: text.slice(at, at + needle.length), hit: true });
    from = at + needle.length;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), hit: false });
  return pieces;
}

/** What is searched: the steps, and the full results (by call) of those with a truncated one. */
export interface Searched {
  nodes: Map<NodeId, TimelineNode>;
  results: Map<string, string>;
}

/** Whether a step, or one below it, is this call. */
export function holdsCall(nodes: Searched["nodes"], id: NodeId, call: string): boolean {
  const node = nodes.get(id);
  if (node?.kind === "tool" && node.call === call) return true;
  const below = node?.kind === "tool" ? node.agents : node?.kind === "agent" ? node.children : [];
  return below.some((child) => holdsCall(nodes, child, call));
}

/** Whether a step, or one below it, contains the query. */
export function matches(searched: Searched, id: NodeId, query: string): boolean {
  const needle = query.trim().toLowerCase();
  if (needle === "") return true;
  const node = searched.nodes.get(id);
  return node !== undefined && nodeMatches(searched, node, needle);
}

function nodeMatches(searched: Searched, node: TimelineNode, needle: string): boolean {
  const holds = (...texts: (string | null)[]) => texts.some((text) => text?.toLowerCase().includes(needle));
  const below = (ids: NodeId[]) =>
    ids.some((id) => {
      const child = searched.nodes.get(id);
      return child !== undefined && nodeMatches(searched, child, needle);
    });
  switch (node.kind) {
    case "tool": {
      const args = node.arguments === undefined ? node.argumentsText : JSON.stringify(node.arguments);
      const result = searched.results.get(node.call) ?? node.result;
      return holds(node.name, args, result) || below(node.agents);
    }
    case "agent":
      return holds(node.name, node.task, node.result) || below(node.children);
    case "text":
    case "reasoning":
      return holds(node.text);
    case "notice":
      return holds(said(node));
    case "compaction":
      return holds(node.summary);
    case "file":
      return holds(node.path);
    case "memory":
      return holds(node.name);
    case "hook":
      return holds(node.hook, node.tool, node.reason);
    case "question":
      return holds(node.text, node.answer, node.values && JSON.stringify(node.values));
    default:
      return false;
  }
}
