/** The preview of a result: its beginning, or a word where it says nothing. */
import { render } from "@testing-library/svelte";
import { expect, test } from "vitest";
import ResultPreview from "./ResultPreview.svelte";

test.each([
  ["", false, "Done (no output)"],
  ['{"files": []}', false, "Done (no output)"],
  ["", true, ""],
  ["two\n\nlines", false, "two lines"],
])("of %j, failed: %s, is %j", (result, hasFailed, text) => {
  const { container } = render(ResultPreview, { props: { result, hasFailed } });
  expect(container.textContent?.trim()).toBe(text);
});
