/** Example prompts are read as they were stored. */

import { expect, test } from "vitest";
import { startPrompt, storedPrompt } from "./start-prompts.ts";

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
