/** The human-readable part of a tool's result. */
import type { ToolFile } from "../api/types.ts";

/** A result without the lines that tell the model about files, which are shown below it. */
export function withoutFiles(result: string, files: readonly ToolFile[]): string {
  if (files.length === 0) return result;
  const isOfFile = (text: string) =>
    /^\[[^\n]*\]$/.test(text) && files.some((file) => text.includes(file.path));
  return result
    .split("\n\n")
    .filter((text) => !isOfFile(text.trim()))
    .join("\n\n");
}

/**
 * Whether a tool's result has content: `false` for an empty one, or JSON without a value, such as `{"files": []}`. The
 * server's formats for other front ends apply the same rule.
 */
export function saysSomething(result: string): boolean {
  const trimmed = result.trim();
  if (!/^[[{]/.test(trimmed) && trimmed !== "null") return trimmed !== "";
  try {
    return hasValue(JSON.parse(trimmed));
  } catch {
    return true;
  }
}

function hasValue(value: unknown): boolean {
  if (typeof value === "string") return value.trim() !== "";
  if (typeof value === "object") return value !== null && Object.values(value).some(hasValue);
  return true;
}
