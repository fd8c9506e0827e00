/** Which results say something. */
import { describe, expect, test } from "vitest";
import { saysSomething } from "./results.ts";

describe("document 000: a result that says nothing", () => {
  test.each(["", " \n", "{}", "[]", "null", '{"a":[""]}'])("%j", (result) => {
    expect(saysSomething(result)).toBe(false);
  });
  test.each(["x", "7", '{"text":"x"}', "{broken", '["a"]', "true", "[1]", '{"count":42}'])(
    "is told from %j",
    (result) => {
      expect(saysSomething(result)).toBe(true);
    },
  );
});
