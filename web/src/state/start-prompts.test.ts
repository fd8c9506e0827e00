/** Example prompts are read as they were stored. */

import { expect, test } from "vitest";
import { isOpenEnded, startPrompt, storedPrompt } from "./start-prompts.ts";

test.each([
  ["Summarize this.", { title: "", text: "Summarize this." }],
  ["Report\nWrite a report\non it.", { title: "Report", text: "Write a report\non it." }],
  ["Report \n\n Write it. ", { title: "Report", text: "Write it." }],
  ["\nTwo\nlines", { title: "", text: "Two\nlines" }],
  ["Alone\n", { title: "", text: "Alone" }],
])("%j", (stored, prompt) => {
  expect(startPrompt(stored)).toEqual(prompt);
  expect(startPrompt(storedPrompt(prompt))).toEqual(prompt);
});

test.each([
  ["Translate this into French:", true],
  ["翻译成法语：\n", true],
  ["Summarize: in one line", false],
])("%j is completed before it is sent: %s", (text, expected) => {
  expect(isOpenEnded(text)).toBe(expected);
});
