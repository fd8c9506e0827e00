/** Parts of a Markdown text as texts of their own. */
import { expect, test } from "vitest";
import { continued } from "./markdown.ts";

test.each([
  ["a table gets its head", "| 3 | 4 |", "| a | b |\n| - | - |\n", "| a | b |\n| - | - |\n| 3 | 4 |"],
  [
    "an inner list is no code",
    "    - deep\n      more\n    - deeper\n- outer\n    - inner",
    "",
    "- deep\n  more\n- deeper\n- outer\n    - inner",
  ],
  ["numbers too", "   2. two\n\n   3. three", "", "2. two\n\n3. three"],
  ["code stays code", "    let a = 1;", "", "    let a = 1;"],
])("%s", (_, source, lead, expected) => {
  expect(continued(source, lead)).toBe(expected);
});
