/** The form for a call's arguments. */
import { expect, test } from "vitest";
import { draftOf, fieldsOf, parseDraft, readDraft, readFields } from "./fields.ts";

const given = JSON.parse(
  `{"title": "Login", "body": "one\\ntwo", "count": 3, "draft": true, "labels": ["bug", "ui"], "owner": null,
    "empty": [], "place": {"x": 1.5}, "__proto__": "own"}`,
) as Record<string, unknown>;

test("each argument has a field of its type", () => {
  expect(fieldsOf(given).map(({ name, kind, text }) => [name, kind, text])).toEqual([
    ["title", "text", "Login"],
    ["body", "long_text", "one\ntwo"],
    ["count", "number", "3"],
    ["draft", "boolean", "true"],
    ["labels", "lines", "bug\nui"],
    ["owner", "json", "null"],
    ["empty", "json", "[]"],
    ["place", "json", '{\n  "x": 1.5\n}'],
    ["__proto__", "text", "own"],
  ]);
});

test("unchanged fields give the same arguments", () => {
  const { values, faults } = readFields(fieldsOf(given));
  expect(faults.size).toBe(0);
  expect(JSON.stringify(values)).toBe(JSON.stringify(given));
});

test("a field that cannot be read has a fault, and keeps what is typed", () => {
  const fields = [
    { name: "count", kind: "number" as const, text: "3,5" },
    { name: "size", kind: "number" as const, text: "many" },
    { name: "none", kind: "number" as const, text: " " },
    { name: "place", kind: "json" as const, text: "{" },
    { name: "labels", kind: "lines" as const, text: "a\n\n b \n" },
  ];
  const { values, faults } = readFields(fields);
  expect(values).toEqual({ count: 3.5, size: "many", none: " ", place: "{", labels: ["a", " b "] });
  expect([...faults.keys()]).toEqual([1, 2, 3]);
  expect(readDraft({ isOpen: true, fields, json: null })).toEqual({ fault: "fields" });
});

test("JSON must be an object", () => {
  const read = (json: string) => readDraft({ isOpen: true, fields: [], json });
  expect(read('{"a": 1}')).toEqual({ values: { a: 1 } });
  expect(read("[]")).toEqual({ fault: "object" });
  expect(read("{")).toMatchObject({ fault: { invalid: expect.any(String) as string } });
  expect(draftOf("broken {")).toEqual({ isOpen: true, fields: [], json: "broken {" });
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`a${at}`, at]));
  expect(draftOf(many)).toMatchObject({ fields: [], json: JSON.stringify(many, null, 2) });
});

test("a stored draft is read only if it is one", () => {
  const draft = draftOf(given);
  expect(parseDraft(JSON.stringify(draft))).toEqual(draft);
  for (const other of ["", "{", "null", '{"fields": [{"name": 1}]}', '{"json": "{}"}']) {
    expect(parseDraft(other)).toBeNull();
  }
});
