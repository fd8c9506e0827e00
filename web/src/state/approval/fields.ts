/** The form for a call's arguments: one field per argument, by the type of its value. */
import { argumentsText } from "../arguments.ts";
import { isArguments, type Arguments } from "./call.ts";

export type FieldKind = "text" | "long_text" | "number" | "boolean" | "lines" | "json";

export interface ArgumentField {
  name: string;
  kind: FieldKind;
  /** What is typed; of a checkbox `true` or `false`. */
  text: string;
}

/** An unsent edit. */
export interface ArgumentsDraft {
  /** Whether its form is open. */
  isOpen: boolean;
  fields: ArgumentField[];
  /** The whole as JSON, if it is edited so. */
  json: string | null;
}

/** A longer text is edited in a multi-line field. */
const oneLineLength = 60;

function fieldOf([name, value]: [string, unknown]): ArgumentField {
  if (typeof value === "string") {
    const isLong = value.length > oneLineLength || value.includes("\n");
    return { name, kind: isLong ? "long_text" : "text", text: value };
  }
  if (typeof value === "number") return { name, kind: "number", text: String(value) };
  if (typeof value === "boolean") return { name, kind: "boolean", text: String(value) };
  if (isLines(value)) return { name, kind: "lines", text: value.join("\n") };
  return { name, kind: "json", text: JSON.stringify(value, null, 2) };
}

const isLines = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((item) => typeof item === "string" && item.trim() !== "" && !/[\r\n]/.test(item));

export const fieldsOf = (given: Arguments): ArgumentField[] => Object.entries(given).map(fieldOf);

/** More arguments are edited as JSON. */
const maxFields = 100;

export const hasForm = (given: Arguments) => Object.keys(given).length <= maxFields;

export function draftOf(given: unknown): ArgumentsDraft {
  if (isArguments(given) && hasForm(given)) return { isOpen: true, fields: fieldsOf(given), json: null };
  return { isOpen: true, fields: [], json: argumentsText(given, "") };
}

export type FieldFault = "number" | { invalid: string };

/** The value of a field, or why it has none. */
function valueOf({ kind, text }: ArgumentField): { value: unknown } | { fault: FieldFault } {
  switch (kind) {
    case "number": {
      const value = Number(text.trim().replace(",", "."));
      return text.trim() === "" || !Number.isFinite(value) ? { fault: "number" } : { value };
    }
    case "boolean":
      return { value: text === "true" };
    case "lines":
      return { value: text.split("\n").filter((line) => line.trim() !== "") };
    case "json":
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (error) {
        return { fault: { invalid: error instanceof Error ? error.message : "" } };
      }
    default:
      return { value: text };
  }
}

/** The arguments as edited in the form, and the faults by the fields' places. */
export function readFields(fields: ArgumentField[]): { values: Arguments; faults: Map<number, FieldFault> } {
  const faults = new Map<number, FieldFault>();
  const entries = fields.map((field, at): [string, unknown] => {
    const read = valueOf(field);
    if ("value" in read) return [field.name, read.value];
    faults.set(at, read.fault);
    // What is typed is kept where the fields become JSON.
    return [field.name, field.text];
  });
  return { values: Object.fromEntries(entries), faults };
}

/** The arguments as edited, or why they cannot be sent. */
export function readDraft({ fields, json }: ArgumentsDraft): { values: Arguments } | { fault: JsonFault } {
  if (json !== null) return readJson(json);
  const { values, faults } = readFields(fields);
  return faults.size > 0 ? { fault: "fields" } : { values };
}

/** `fields`: at least one field has a fault of its own. */
export type JsonFault = "fields" | "object" | { invalid: string };

export function readJson(json: string): { values: Arguments } | { fault: JsonFault } {
  try {
    const value: unknown = JSON.parse(json);
    return isArguments(value) ? { values: value } : { fault: "object" };
  } catch (error) {
    return { fault: { invalid: error instanceof Error ? error.message : "" } };
  }
}

const kinds: FieldKind[] = ["text", "long_text", "number", "boolean", "lines", "json"];

/** Reads a stored draft; `null` if it is not one. */
export function parseDraft(stored: string): ArgumentsDraft | null {
  try {
    const { isOpen, fields, json } = JSON.parse(stored) as Partial<ArgumentsDraft>;
    const isField = ({ name, kind, text }: ArgumentField) =>
      typeof name === "string" && typeof text === "string" && kinds.includes(kind);
    if (!Array.isArray(fields) || !fields.every(isField)) return null;
    return { isOpen: isOpen === true, fields, json: typeof json === "string" ? json : null };
  } catch {
    return null;
  }
}
