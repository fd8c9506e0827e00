/** The cache of completions. */
import { expect, test } from "vitest";
import { textSoFar } from "../api/pipelines.ts";
import { firstWord, goingOn, isWithin, remembered, type Known } from "./completion.ts";

test("what was offered stays while it is typed", () => {
  const known = remembered([], { text: "What is", ghost: " the capital?" });
  expect(goingOn(known, "What is")).toBe(" the capital?");
  expect(goingOn(known, "What is the ca")).toBe("pital?");
  expect(goingOn(known, "What is the capital?")).toBe("");
  expect(goingOn(known, "What is a")).toBeNull();
  expect(goingOn(known, "What")).toBeNull();
});

test("the newest answer counts, and old ones are forgotten", () => {
  let known: Known[] = [];
  for (let i = 0; i < 50; i++) known = remembered(known, { text: `text ${i}`, ghost: "!" });
  expect(known).toHaveLength(40);
  expect(goingOn(known, "text 9")).toBeNull();
  known = remembered(known, { text: "text 49", ghost: "?" });
  expect(goingOn(known, "text 49")).toBe("?");
});

test("a word is taken with the blanks before it", () => {
  expect(firstWord(" the capital?")).toBe(" the");
  expect(firstWord("pital?")).toBe("pital?");
  expect(firstWord("")).toBe("");
});

test("what is offered is read before its end has come", () => {
  expect(textSoFar("")).toBe("");
  expect(textSoFar('{"text":"')).toBe("");
  expect(textSoFar('{"text":" the \\"cap')).toBe(' the "cap');
  expect(textSoFar('{"text":" the {\\"}')).toBe(' the {"}');
  expect(textSoFar('{"text":" the capital?"}')).toBe(" the capital?");
  expect(textSoFar('{"text": "a\\u0041\\\\"}')).toBe("aA\\");
});

test("a text is as long as the server says", () => {
  expect(isWithin("four", 4)).toBe(true);
  expect(isWithin("fives", 4)).toBe(false);
  expect(isWithin("🌱🌱🌱🌱", 4)).toBe(true);
  expect(isWithin("🌱🌱🌱🌱a", 4)).toBe(false);
  expect(isWithin("a".repeat(1000), -1)).toBe(true);
  expect(isWithin("a", 0)).toBe(false);
});
