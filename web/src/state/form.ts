/** Forms requested by agents: parsed from a JSON schema, and input converted to values. */

export type Input =
  | "text"
  | "long_text"
  | "email"
  | "url"
  | "date"
  | "date_time"
  | "number"
  | "integer"
  | "boolean"
  | "choice"
  | "choices";

export interface FormField {
  name: string;
  label: string;
  help: string;
  required: boolean;
  input: Input;
  choices: { value: string; title: string }[];
  /** Of numbers the value, of texts the length in characters, of choices the number. */
  min: number | null;
  max: number | null;
  default: unknown;
}

/** Field values as typed or selected. */
export type Draft = Record<string, string | string[]>;

/** Validation error of a field; its text is in the dictionaries. */
export interface Fault {
  key: "missing" | "number" | "integer" | "range" | "length" | "email" | "url" | "date" | "count";
  min: number | null;
  max: number | null;
}

/** A text that may be longer is edited in a multi-line field. */
const oneLineLength = 500;
const inputs: Record<string, Input> = { email: "email", uri: "url", date: "date", "date-time": "date_time" };

interface Property {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  format?: unknown;
  default?: unknown;
  enum?: unknown;
  oneOf?: unknown;
  anyOf?: unknown;
  items?: Property;
  [more: string]: unknown;
}

/** Fields of a form's schema, which the server has validated; `null` if it is not a form. */
export function readForm(schema: unknown): FormField[] | null {
  if (typeof schema !== "object" || schema === null) return null;
  const { properties = {}, required = [] } = schema as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) =>
    readField(name, property, required.includes(name)),
  );
}

function readField(name: string, property: Property, required: boolean): FormField {
  const number = (...keys: string[]) => {
    const found = keys.map((key) => property[key]).find((value) => typeof value === "number");
    return found ?? null;
  };
  const choices = choicesOf(property.type === "array" ? (property.items ?? {}) : property);
  const max = number("maximum", "maxLength", "maxItems");
  return {
    name,
    label: typeof property.title === "string" ? property.title : name,
    help: typeof property.description === "string" ? property.description : "",
    required,
    input: inputOf(property, choices.length > 0, max),
    choices,
    min: number("minimum", "minLength", "minItems"),
    max,
    default: property.default,
  };
}

function inputOf(property: Property, chooses: boolean, max: number | null): Input {
  switch (property.type) {
    case "array":
      return "choices";
    case "boolean":
    case "number":
    case "integer":
      return property.type;
    default: {
      if (chooses) return "choice";
      const format = typeof property.format === "string" ? inputs[property.format] : undefined;
      return format ?? (max !== null && max > oneLineLength ? "long_text" : "text");
    }
  }
}

function choicesOf(property: Property): FormField["choices"] {
  if (Array.isArray(property.enum)) {
    return property.enum.map((value) => ({ value: String(value), title: String(value) }));
  }
  const options = (property.oneOf ?? property.anyOf ?? []) as { const: string; title?: string }[];
  return options.map((option) => ({ value: option.const, title: option.title ?? option.const }));
}

/** Initial values of the fields. */
export function firstDraft(fields: FormField[]): Draft {
  return Object.fromEntries(fields.map((field) => [field.name, written(field)]));
}

function written({ input, default: value }: FormField): string | string[] {
  if (input === "choices") return Array.isArray(value) ? value.map(String) : [];
  if (input === "date_time" && typeof value === "string") return localTime(value);
  return value === undefined || value === null ? "" : String(value);
}

/** In the format of `datetime-local`: local time without an offset. */
function localTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return "";
  const here = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return here.toISOString().slice(0, 16);
}

/** The values to send, and errors by field name. Omitted values are `null`, so that no default replaces them. */
export function valuesOf(
  fields: FormField[],
  draft: Draft,
): { values: Record<string, unknown>; faults: Record<string, Fault> } {
  const values: Record<string, unknown> = {};
  const faults: Record<string, Fault> = {};
  for (const field of fields) {
    const said = draft[field.name] ?? "";
    const isEmpty = Array.isArray(said) ? said.length === 0 : said.trim() === "";
    if (isEmpty) {
      values[field.name] = null;
      if (field.required) faults[field.name] = { key: "missing", min: field.min, max: field.max };
      continue;
    }
    const value = Array.isArray(said) ? said : valueOf(field, said);
    const key = faultOf(field, value);
    values[field.name] = value;
    if (key) faults[field.name] = { key, min: field.min, max: field.max };
  }
  return { values, faults };
}

function valueOf({ input }: FormField, said: string): unknown {
  if (input === "number" || input === "integer") return Number(said.trim().replace(",", "."));
  if (input === "boolean") return said === "true";
  if (input === "date_time") {
    const time = new Date(said);
    return Number.isNaN(time.getTime()) ? said : time.toISOString();
  }
  return ["email", "url"].includes(input) ? said.trim() : said;
}

function faultOf({ input, min, max }: FormField, value: unknown): Fault["key"] | null {
  const isOut = (size: number) => (min !== null && size < min) || (max !== null && size > max);
  switch (input) {
    case "number":
    case "integer": {
      const number = value as number;
      if (Number.isNaN(number) || (input === "integer" && !Number.isInteger(number))) return input;
      return isOut(number) ? "range" : null;
    }
    case "text":
    case "long_text":
      return isOut([...(value as string)].length) ? "length" : null;
    case "email":
      return /^\S+@\S+$/.test(value as string) ? null : "email";
    case "url":
      return URL.canParse(value as string) ? null : "url";
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(value as string) ? null : "date";
    case "date_time":
      return Number.isNaN(Date.parse(value as string)) ? "date" : null;
    case "choices":
      return isOut((value as string[]).length) ? "count" : null;
    default:
      return null;
  }
}

/** Formats an answered value. */
export function saidOf(
  field: FormField | undefined,
  value: unknown,
  words: { yes: string; no: string; time: (at: number) => string },
): string {
  const titleOf = (value: unknown) =>
    field?.choices.find((choice) => choice.value === value)?.title ?? String(value);
  if (Array.isArray(value)) return value.map(titleOf).join(", ");
  if (typeof value === "boolean") return value ? words.yes : words.no;
  if (field?.input === "date_time" && typeof value === "string") {
    const at = Date.parse(value);
    return Number.isNaN(at) ? value : words.time(at);
  }
  return titleOf(value);
}
