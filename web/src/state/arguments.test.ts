/** Formatting of a tool call's arguments and result. */
import { expect, test } from "vitest";
import { exactPattern, isPattern, previewOf, programOf, withoutMarks } from "./arguments.ts";

test("a program is told from other calls", () => {
  expect(programOf({ code: "1 + 1", restart: true })).toEqual({ program: "1 + 1", rest: { restart: true } });
  expect(programOf({ command: "ls" })).toEqual({ program: "ls", rest: {} });
  for (const other of [{ code: "a", command: "b" }, { path: "/a" }, ["code"], "code", null]) {
    expect(programOf(other)).toBeNull();
  }
});

test("of a traceback the error is told", () => {
  const traceback =
    'Traceback (most recent call last):\n  File "<cell>", line 1\nZeroDivisionError: division by zero';
  expect(previewOf(`printed\n${traceback}\n[more]`)).toBe("ZeroDivisionError: division by zero");
  expect(previewOf("Traceback (most recent call last):\n  …")).toBe("Traceback (most recent call last): …");
});

test("document_000_a_result_is_previewed_in_200_characters", () => {
  expect(previewOf("a".repeat(200))).toBe("a".repeat(200));
  expect(previewOf("a".repeat(201))).toBe(`${"a".repeat(200)}...`);
  expect(previewOf("😀".repeat(201))).toBe(`${"😀".repeat(200)}...`);
  expect(previewOf("one\n\n  two\tthree ")).toBe("one two three");
  expect(previewOf(" \n\t ")).toBe("");
  // The log holds only the start of a long result.
  expect(previewOf("short lines\n".repeat(3), true)).toBe("short lines short lines short lines...");
});

test("an exact pattern fits one text", () => {
  expect(exactPattern("2*3\\")).toBe("2\\*3\\\\");
  expect(exactPattern(7)).toBe("7");
  expect(exactPattern("a\nb")).toBe("a\nb");
  expect(isPattern("ё".repeat(5000))).toBe(true);
  expect(isPattern("ё".repeat(5001))).toBe(false);
});

test("previews of Markdown are plain", () => {
  for (const [markdown, plain] of [
    ["**Rainfall, June**: 3 mm.", "Rainfall, June: 3 mm."],
    ["# Title\n\n- one `code`\n- [two](https://example.org)", "Title\n\none code\ntwo"],
    ["1. First\n> said\n```js\nlet a;\n```", "First\nsaid\n\nlet a;\n"],
    ["2 * 3 ** 4 and __init__.py", "2 * 3 ** 4 and __init__.py"],
    ["[1] and a_b_c", "[1] and a_b_c"],
  ]) {
    expect(withoutMarks(markdown ?? "")).toBe(plain);
  }
  expect(withoutMarks("`".repeat(100_000)).length).toBeLessThanOrEqual(2000);
});
