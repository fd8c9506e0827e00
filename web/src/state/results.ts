/** Whether there is anything to read in a tool's result: not so in an empty one, nor in JSON without a value, such as
 *  `{"files": []}`. The server's formats for other front ends judge the same way. */
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
