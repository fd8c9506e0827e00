/** Groups that a collection is shared with, as a list. */
import { expect, test } from "vitest";
import { listed } from "./readers.ts";

const group = (id: string) => ({ id, name: `Group ${id}` });

test("groups that it is shared with come first, also those that cannot be chosen, and none twice", () => {
  const shown = listed({ groups: [group("b"), group("x")], choice: [group("a"), group("b")] });
  expect(shown.map(({ id, on }) => [id, on])).toEqual([
    ["b", true],
    ["x", true],
    ["a", false],
  ]);
  expect(listed({ groups: [], choice: [] })).toEqual([]);
});
