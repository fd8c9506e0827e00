/** Parsing forms from their schema, and converting input to values. */
import { expect, test } from "vitest";
import { firstDraft, readForm, saidOf, valuesOf, type FormField } from "./form.ts";

const schema = {
  type: "object",
  properties: {
    city: { type: "string", title: "City", description: "Where to", minLength: 2, maxLength: 500 },
    note: { type: "string", maxLength: 10_000 },
    mail: { type: "string", format: "email" },
    page: { type: "string", format: "uri" },
    day: { type: "string", format: "date", default: "2026-01-31" },
    at: { type: "string", format: "date-time", default: "2026-01-31T12:00:00Z" },
    price: { type: "number", minimum: 0.5 },
    seats: { type: "integer", minimum: 1, maximum: 9, default: 2 },
    window: { type: "boolean", default: false },
    meal: { type: "string", oneOf: [{ const: "v", title: "Vegetables" }] },
    bags: { type: "array", minItems: 1, maxItems: 1, items: { type: "string", enum: ["small", "big"] } },
  },
  required: ["city"],
};
const fields = readForm(schema) as FormField[];
const fieldOf = (name: string) => fields.find((field) => field.name === name);

test("each property has its way to be filled in", () => {
  expect(fields.map((field) => field.input)).toEqual([
    "text",
    "long_text",
    "email",
    "url",
    "date",
    "date_time",
    "number",
    "integer",
    "boolean",
    "choice",
    "choices",
  ]);
  expect(fieldOf("city")).toMatchObject({
    label: "City",
    help: "Where to",
    required: true,
    min: 2,
    max: 500,
  });
  expect(readForm(undefined)).toBeNull();
  expect(readForm({ type: "object" })).toEqual([]);
});

test("defaults stand in the fields at first and are sent", () => {
  const draft = { ...firstDraft(fields), city: "Rome" };
  expect(draft).toMatchObject({ seats: "2", window: "false", bags: [], day: "2026-01-31", price: "" });
  const { values, faults } = valuesOf(fields, draft);
  expect(faults).toEqual({});
  expect(values).toMatchObject({ city: "Rome", seats: 2, window: false, price: null, bags: null });
  expect(values.at).toBe("2026-01-31T12:00:00.000Z");
});

test("what cannot be sent is named", () => {
  const check = (name: string, said: string | string[], key: string | null) => {
    const { faults } = valuesOf([fieldOf(name) as FormField], { [name]: said });
    expect(faults[name]?.key ?? null, `${name} ${said}`).toBe(key);
  };
  check("city", " ", "missing");
  check("city", "R", "length");
  check("city", "🚀🚀", null);
  check("seats", "1,5", "integer");
  check("seats", "10", "range");
  check("seats", "ten", "integer");
  check("price", "1,5", null);
  check("price", "0.1", "range");
  check("price", "x", "number");
  check("mail", "ada", "email");
  check("page", "example", "url");
  check("day", "31.1.", "date");
  check("bags", ["small", "big"], "count");
  check("bags", [], null);
});

test("what was given is told in words", () => {
  const words = { yes: "Yes", no: "No", time: (at: number) => `at ${at}` };
  const said = (name: string, value: unknown) => saidOf(fieldOf(name), value, words);
  expect(said("meal", "v")).toBe("Vegetables");
  expect(said("bags", ["small", "big"])).toBe("small, big");
  expect(said("window", false)).toBe("No");
  expect(said("at", "1970-01-01T00:00:01Z")).toBe("at 1000");
  expect(said("unknown", 3)).toBe("3");
});
