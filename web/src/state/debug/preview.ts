/** Formats a frame as one line, and expanded. */
import { hitIn } from "./filter.ts";
import { jsonOf } from "./frames.ts";

const maxLineLength = 160;
/**
 * Approximate number of characters visible in a narrow panel; a later hit is moved to the front, after a few
 * characters.
 */
const visible = 24;
const leadIn = 10;

/** Fields omitted from the preview: shown elsewhere in the row, or of no interest. */
const silent =
  /^(type|run|seq|at|agent|item|call|id|object|created|model|index|timestamp|source|protocolVersion|sequence_number|\w+_index)$|_id$|Id$|^agent_depth$/;
/** Most informative fields first. */
const telling = ["name", "description", "result", "error", "text", "content", "model"];
const isId = /^(run|chat|msg)_\w+$/;
/** Fields that wrap the actual content. */
const wrappers = ["body", "data", "delta", "item", "part", "response"];

/** One-line preview of the frame. */
export function previewOf(data: string): string {
  const json = jsonOf(data);
  return oneLine(json === undefined ? data : said(json).join(" · "));
}

function said(value: unknown): string[] {
  if (value === null || value === undefined || value === false || value === "") return [];
  if (typeof value !== "object") return [String(value)];
  if (Array.isArray(value)) return value.length === 0 ? [] : [JSON.stringify(value)];
  const fields = value as Record<string, unknown>;
  if (Array.isArray(fields.choices)) return saidByChunk(fields);
  const wrapper = wrappers.find((name) => typeof fields[name] === "object" && fields[name] !== null);
  if (wrapper !== undefined) return [...said(fields[wrapper]), ...said(fields.description)];
  const told = Object.entries(fields).filter(([name]) => !silent.test(name) || name === "model");
  const rank = ([name]: [string, unknown]) =>
    (telling.indexOf(name) + telling.length + 1) % (telling.length + 1);
  return told.sort((a, b) => rank(a) - rank(b)).flatMap(([name, item]) => saidBy(name, item));
}

function saidBy(name: string, item: unknown): string[] {
  if (typeof item === "string") return item === "" || isId.test(item) ? [] : [item];
  if (item === true || typeof item === "number") return [item === true ? name : `${name} ${item}`];
  if (typeof item !== "object" || item === null) return [];
  const inside = Object.entries(item);
  const isFigures = !Array.isArray(item) && inside.every(([, value]) => typeof value === "number");
  if (isFigures) return inside.map(([figure, value]) => `${figure} ${value}`);
  return inside.length === 0 ? [] : [JSON.stringify(item)];
}

/** Only the delta of an OpenAI chunk: the rest is the same in each. */
function saidByChunk({ choices, usage, ...rest }: Record<string, unknown>): string[] {
  const [choice] = choices as { delta?: unknown; finish_reason?: unknown }[];
  const extras = Object.entries(rest).filter(([name]) => !silent.test(name));
  return [
    ...said(choice?.delta),
    ...said(choice?.finish_reason),
    ...said(usage),
    ...extras.flatMap(([name, item]) => saidBy(name, item)),
  ];
}

/** The line of a matching frame, which shows the hit wherever it is. */
export function foundLine(data: string, query: string): string {
  const line = previewOf(data);
  if (query.trim() === "") return line;
  const inLine = hitIn(line, query);
  if (inLine >= 0) return inLine < visible ? line : `…${line.slice(inLine - leadIn)}`;
  const at = hitIn(data, query);
  return at < 0 ? line : `${at > leadIn ? "…" : ""}${oneLine(data.slice(Math.max(0, at - leadIn)))}`;
}

function oneLine(text: string): string {
  const line = text.slice(0, maxLineLength * 2).replace(/\r\n|\r|\n/g, "⏎");
  return line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line;
}

/** The data for reading: indented JSON, or the raw text if it is not JSON. */
export function prettyOf(data: string): string {
  const json = jsonOf(data);
  return json === undefined ? data : JSON.stringify(json, null, 2);
}

export interface JsonPiece {
  text: string;
  isName: boolean;
}

/** Splits indented JSON into field names and the rest. */
export function namesApart(pretty: string): JsonPiece[] {
  const pieces: JsonPiece[] = [];
  let from = 0;
  for (const found of pretty.matchAll(/^\s*("(?:[^"\\]|\\.)*")(?=: )/gm)) {
    const name = found[1] ?? "";
    const at = found.index + found[0].length - name.length;
    pieces.push({ text: pretty.slice(from, at), isName: false }, { text: name, isName: true });
    from = at + name.length;
  }
  pieces.push({ text: pretty.slice(from), isName: false });
  return pieces;
}
