/** All dictionaries have the same keys and placeholders. */
import { expect, test } from "vitest";
import { en } from "./en.ts";
import type { Entry, Key } from "./index.svelte.ts";
import { ru } from "./ru.ts";

const placeholders = (entry: Entry) => [...new Set(JSON.stringify(entry).match(/\{\w+\}/g))].sort().join(" ");

test.each(Object.keys(en) as Key[])("%s takes the same values in Russian", (key) => {
  expect(placeholders(ru[key])).toBe(placeholders(en[key]));
});

test("Russian plurals have all their forms", () => {
  for (const entry of Object.values(ru)) {
    if (typeof entry === "string") continue;
    expect(Object.keys(entry).sort()).toEqual(["few", "many", "one", "other"]);
  }
});
