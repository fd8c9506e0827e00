/** Which results have content. */
import { describe, expect, test } from "vitest";
import { saysSomething, withoutFiles } from "./results.ts";

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

test("the lines of files that stand below a result are not read with it", () => {
  const file = { path: "/results/shoot-1.png", version: 1, media_type: "image/png", size_bytes: 5 };
  const line = "[Image: /results/shoot-1.png, image/png, 5 bytes]";
  expect(withoutFiles(`Done.\n\n${line}\n\nAnd more.`, [file])).toBe("Done.\n\nAnd more.");
  expect(withoutFiles(line, [file])).toBe("");
  expect(withoutFiles(line, [])).toBe(line);
  expect(withoutFiles(`It is at /results/shoot-1.png`, [file])).toBe("It is at /results/shoot-1.png");
});
