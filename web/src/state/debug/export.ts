/** Exports frames as text. */
import { saveFile } from "../../save-file.ts";
import { jsonOf, type Frame } from "./frames.ts";

/** A frame in SSE wire format. */
export function wireOf({ event, id, data }: Pick<Frame, "event" | "id" | "data">): string {
  return [...fieldLines({ event, id }), ...data.split("\n").map((line) => `data: ${line}`), "", ""].join(
    "\n",
  );
}

/** The field lines before a frame's data. */
export function fieldLines({ event, id }: Pick<Frame, "event" | "id">): string[] {
  return [...(event === null ? [] : [`event: ${event}`]), ...(id === null ? [] : [`id: ${id}`])];
}

/** Text for “Copy”: a stored event as its JSON, a protocol's frame as sent. */
export function copyOf(format: string, frame: Frame): string {
  return format === "native" ? frame.data : wireOf(frame);
}

export function copyOfAll(format: string, frames: readonly Frame[]): string {
  return frames.map((frame) => copyOf(format, frame)).join(format === "native" ? "\n" : "");
}

/** JSON Lines: stored events as they are, a protocol's frames as objects, so that each line is valid JSON. */
export function jsonLines(format: string, frames: readonly Frame[]): string {
  return frames.map((frame) => `${format === "native" ? frame.data : lineOf(frame)}\n`).join("");
}

function lineOf({ event, id, data }: Frame): string {
  // Data that is already JSON is copied verbatim: parsing and serialising could change its numbers.
  const value = jsonOf(data) === undefined ? JSON.stringify(data) : data;
  const names = [["event", event] as const, ["id", id] as const].filter(([, text]) => text !== null);
  const fields = names.map(([name, text]) => `"${name}":${JSON.stringify(text)},`).join("");
  return `{${fields}"data":${value}}`;
}

export function save(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: "application/x-ndjson" }));
}
