/** Files from folders get distinct names. */
import { expect, test } from "vitest";
import { named } from "./folders.ts";

const file = new File([], "x");

function check(paths: string[], expected: string[], hidden = 0) {
  const picked = named(paths.map((path) => ({ file, path })));
  expect(picked.files.map(({ name }) => name)).toEqual(expected);
  expect(picked.hidden).toBe(hidden);
}

test("files of one name in two folders are two documents", () => {
  check(["docs/a/README.md", "docs/b/README.md"], ["a › README.md", "b › README.md"]);
  check(["a/README.md", "b/README.md", "plan.md"], ["a › README.md", "b › README.md", "plan.md"]);
  check(["docs/plan.md", "docs/a/b/plan.md"], ["plan.md", "a › b › plan.md"]);
});

test("what is hidden is left out and counted", () => {
  check(["docs/.git/config", "docs/.DS_Store", "docs/plan.md"], ["plan.md"], 2);
  check([".env"], [], 1);
});
