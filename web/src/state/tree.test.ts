/** The message tree: the path to a leaf, versions, and the newest leaf of a branch. */
import { expect, test } from "vitest";
import type { ChatMessage } from "../api/types.ts";
import { besideOf, newestLeaf, pathTo, siblingGroups, textOf } from "./tree.ts";

function message(id: string, parent: string | null, created_at: number): ChatMessage {
  const role = id.startsWith("u") ? "user" : "assistant";
  return { id, parent, role, content: [{ type: "text", text: id }], created_at };
}

// u1 ─ a1 ─ u2 ─ a2
//   ╲ a1b      ╲ a2b
// u1b (edited first message)
const messages = [
  message("u1", null, 1),
  message("a1", "u1", 2),
  message("u2", "a1", 3),
  message("a2", "u2", 4),
  message("a2b", "u2", 5),
  message("a1b", "u1", 6),
  message("u1b", null, 7),
];
const ids = (list: ChatMessage[] | undefined) => list?.map(({ id }) => id);

test("the path goes from the first message to the leaf", () => {
  expect(ids(pathTo(messages, "a2"))).toEqual(["u1", "a1", "u2", "a2"]);
  expect(ids(pathTo(messages, "u1b"))).toEqual(["u1b"]);
  expect(pathTo(messages, null)).toEqual([]);
  expect(pathTo(messages, "gone")).toEqual([]);
});

test("a circle in bad data does not hang the page", () => {
  expect(pathTo([message("u1", "a1", 1), message("a1", "u1", 2)], "a1")).toHaveLength(2);
});

test("versions stand together, oldest first", () => {
  const groups = siblingGroups(messages);
  expect(ids(groups.get("a1"))).toEqual(["a1", "a1b"]);
  expect(ids(groups.get("u1b"))).toEqual(["u1", "u1b"]);
  expect(ids(groups.get("u2"))).toEqual(["u2"]);
});

test("a branch opens at its newest end", () => {
  expect(newestLeaf(messages, "a1")).toBe("a2b");
  expect(newestLeaf(messages, "a1b")).toBe("a1b");
});

test("the text of a message leaves its pictures out", () => {
  const mixed: ChatMessage = {
    ...message("u1", null, 1),
    content: [
      { type: "text", text: "a" },
      { type: "image", url: "data:," },
      { type: "text", text: "b" },
    ],
  };
  expect(textOf(mixed)).toBe("a\nb");
});

test("answers stand side by side with those that were asked for beside them", () => {
  const row = [
    message("a1", "u1", 2),
    { ...message("a3", "u1", 4), beside: "a1" },
    { ...message("a2", "u1", 3), beside: "a1" },
    { ...message("a4", "u1", 5), beside: "a1", made_of: ["a1", "a2"] },
    message("a5", "u1", 6),
  ];
  const of = (place: number) => ids(besideOf(row, row[place] as ChatMessage));
  expect([of(0), of(1), of(3)]).toEqual([
    ["a1", "a2", "a3"],
    ["a1", "a2", "a3"],
    ["a1", "a2", "a3"],
  ]);
  expect(of(4)).toEqual(["a5"]);
});
