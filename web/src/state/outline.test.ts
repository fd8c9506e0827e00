/** The outline of a chat. */
import { expect, test } from "vitest";
import type { ChatMessage } from "../api/types.ts";
import { entryAt, isOutlined, outlineOf } from "./outline.ts";

const message = (role: "user" | "assistant", text: string, id = text) =>
  ({ id, role, content: [{ type: "text", text }] }) as ChatMessage;

const path = [
  message("user", "  First\n\nquestion ", "a"),
  message("assistant", "An answer"),
  message("user", "x".repeat(500), "b"),
  message("assistant", "Another"),
  { ...message("user", "", "c"), content: [{ type: "file", name: "plan.pdf" }] } as ChatMessage,
  { ...message("user", "", "d"), content: [{ type: "image", url: "data:image/png," }] } as ChatMessage,
];

test("lists the messages of people by their first words", () => {
  expect(outlineOf(path)).toEqual([
    { id: "a", turn: 0, words: "First question" },
    { id: "b", turn: 2, words: `${"x".repeat(120)}…` },
    { id: "c", turn: 4, words: "plan.pdf" },
    { id: "d", turn: 5, words: "" },
  ]);
});

test("knows the message that an answer belongs to", () => {
  const entries = outlineOf(path);
  expect([0, 1, 3, 99].map((turn) => entryAt(entries, turn)?.id)).toEqual(["a", "a", "b", "d"]);
  expect(entryAt([], 0)).toBeUndefined();
});

test("a short chat has none", () => {
  expect(isOutlined(path)).toBe(true);
  expect(isOutlined(path.slice(0, 5))).toBe(false);
});
