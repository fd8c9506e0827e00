/** Metadata of a frame in the debug panel: its type, agent and time. */
import type { SseFrame } from "../../api/sse.ts";

/** A frame in the panel. */
export interface Frame extends SseFrame {
  /** Index, from 0. */
  index: number;
  /** Its type, which formats store in different places. */
  type: string;
  /** The sub-agent it is about; empty for the main agent, or if the format does not say. */
  agent: string;
  /** Milliseconds since 1970, if the format says. */
  at: number | null;
}

/** A frame and, if it has one, the name of its agent. */
export interface ReadFrame {
  frame: Frame;
  agentName: string | null;
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Parses a frame's data as JSON; `undefined` if it is not. */
export function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

export function readFrame(sent: SseFrame, index: number): ReadFrame {
  const json = jsonOf(sent.data);
  const fields = fieldsOf(json);
  const { id, name } = agentOf(fields);
  const at = fields.at ?? fields.timestamp;
  const frame = {
    ...sent,
    index,
    type: typeOf(sent.data, json),
    agent: id,
    at: typeof at === "number" ? at : null,
  };
  return { frame, agentName: name };
}

function typeOf(data: string, json: unknown): string {
  const fields = fieldsOf(json);
  const own = textOf(fieldsOf(fields.body).type) || textOf(fields.type);
  if (own !== "") return own;
  if (Array.isArray(fields.choices)) return chunkTypeOf(fields);
  if (/^\[[A-Z]+\]$/.test(data)) return data;
  return json === undefined ? "text" : "json";
}

/** Type of an OpenAI chunk by its content. */
function chunkTypeOf(chunk: Fields): string {
  const choice = fieldsOf((chunk.choices as unknown[])[0]);
  const brought = Object.entries(fieldsOf(choice.delta)).filter(
    ([, value]) => value !== null && value !== "",
  );
  const telling = brought.find(([name]) => name !== "role") ?? brought[0];
  if (telling) return `chunk.${telling[0]}`;
  if (choice.finish_reason) return "chunk.finish_reason";
  return chunk.usage ? "chunk.usage" : "chunk";
}

const main = { id: "", name: null };

/** The sub-agent a frame is about, which formats store in different places. */
function agentOf(fields: Fields): { id: string; name: string | null } {
  const { agent: path, subagentRunId, body, data, providerMetadata } = fields;
  if (Array.isArray(path)) {
    const { type, name } = fieldsOf(body);
    return { id: textOf(path.at(-1)), name: type === "agent_started" ? textOf(name) : null };
  }
  if (typeof subagentRunId === "string") return { id: subagentRunId, name: textOf(fields.name) || null };
  const ours = fieldsOf(fieldsOf(providerMetadata).glasshouse);
  if (typeof ours.agent === "string") return { id: ours.agent, name: textOf(ours.agentName) || null };
  const inner = fieldsOf(data);
  if (fields.type === "data-agent") return { id: textOf(fields.id), name: textOf(inner.name) || null };
  const id = textOf(inner.agent_id) || textOf(inner.agent);
  if (id === "") return main;
  const introduces = fields.type === "agent_start" || "task" in inner;
  return { id, name: introduces ? textOf(inner.name) || null : null };
}

/**
 * How many of the frames to keep after a reconnect that starts with `first`. Of several frames for one event all but
 * the last carry the number before it, so they are sent again after a disconnect in between. A format without numbers
 * starts over.
 */
export function keptFrames(frames: readonly Frame[], first: SseFrame): number {
  const last = frames.at(-1);
  if (!last) return 0;
  if (first.id === null) return 0;
  if (last.id !== first.id) return frames.length;
  let from = frames.length;
  while (from > 0 && frames[from - 1]?.id === first.id) from -= 1;
  const repeated = frames.findIndex((frame) => frame.index >= from && frame.data === first.data);
  return repeated < 0 ? frames.length : repeated;
}

export type Sort = "text" | "thought" | "tool" | "agent" | "ask" | "end" | "error" | "other";

const sorts: [RegExp, Sort][] = [
  [/error|fail/, "error"],
  [/^model_/, "other"],
  [/^response\.(created|queued|in_progress|completed|incomplete)$/, "end"],
  [/reason|think|thought/, "thought"],
  [/approval|question|interrupt/, "ask"],
  [/agent/, "agent"],
  [/tool|call/, "tool"],
  [/^\[done\]$|^done$|finish_reason|run.(started|finished|error)|^start$|^finish$|^abort$/, "end"],
  [/text|token|content|message|replace|response/, "text"],
];

/** Rough category of a frame, for its colour. */
export function sortOf(type: string): Sort {
  const lower = type.toLowerCase();
  return sorts.find(([words]) => words.test(lower))?.[1] ?? "other";
}
