/** Detecting a `#word` that references a collection, and matching it. */
import { expect, test } from "vitest";
import { fitting, hashAt, without } from "./hash.ts";

test("a hash is what is being typed behind a blank", () => {
  expect(hashAt("#", 1)).toEqual({ start: 0, end: 1, word: "" });
  expect(hashAt("See #Дог here", 8)).toEqual({ start: 4, end: 8, word: "Дог" });
  for (const [text, caret] of [
    ["# Heading", 9],
    ["C#", 2],
    ["#one two", 8],
    ["no", 2],
    ["##", 2],
  ] as const) {
    expect(hashAt(text, caret), text).toBeNull();
  }
});

test("it fits names whatever their case, beginnings first", () => {
  const list = ["My handbook", "Handbook", "Prices"].map((name) => ({ name }));
  expect(fitting(list, "hand").map(({ name }) => name)).toEqual(["Handbook", "My handbook"]);
  expect(fitting(list, "")).toHaveLength(3);
  expect(fitting(list, "(")).toEqual([]);
});

test("it is taken out of the text", () => {
  const text = "Ask #hand now";
  const hash = hashAt(text, 9);
  expect(hash && without(text, hash)).toEqual({ text: "Ask now", caret: 4 });
});
