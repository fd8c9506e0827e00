/** A chat as Markdown: messages with their authors, folded steps with escaped content, and sources. */
import { expect, test } from "vitest";
import type { RunEvent } from "../../api/events.ts";
import type { ChatMessage } from "../../api/types.ts";
import { chatAsMarkdown, type Labels } from "./markdown.ts";

const labels: Labels = {
  you: "You",
  answer: "Answer",
  sources: "Sources",
  steps: (count) => `${count} steps`,
  failed: "failed",
  completed: "✓ completed",
  picture: "image",
  time: (at) => `at ${at}`,
};

const message = (role: "user" | "assistant", text: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  id: role,
  parent: null,
  role,
  content: [{ type: "text", text }],
  created_at: 7,
  ...more,
});

const event = (body: unknown) => ({ run: "r", seq: 1, at: 1, body }) as RunEvent;
const call = (result: string, error = false, name = "read_file", given: unknown = { path: "/a`b" }) =>
  event({ type: "tool_finished", name, arguments: given, result, error });

test("what was said stands under who said it and when", () => {
  const path = [
    message("user", "Hi\n\n- one", {
      content: [
        { type: "text", text: "Hi" },
        { type: "image", url: "data:," },
      ],
    }),
    message("assistant", "**Hello**", { model: "m" }),
  ];
  expect(chatAsMarkdown("A\nTitle", path, new Map(), labels)).toBe(
    "# A Title\n\n## You\n\n*at 7*\n\nHi\n\n*[image]*\n\n## Answer\n\n*at 7 · m*\n\n**Hello**\n",
  );
});

test("steps are folded, and nothing in them ends the fold", () => {
  const log = [call("```\n</details>\n````"), call("no", true)];
  const text = chatAsMarkdown("T", [message("assistant", "A", { run: "r" })], new Map([["r", log]]), labels);
  expect(text).toContain('<details>\n<summary>2 steps</summary>\n\n**read_file** `` {"path":"/a`b"} ``');
  expect(text).toContain("\n`````text\n```\n</details>\n````\n`````\n");
  expect(text).toContain("**read_file** (failed)");
});

test("on paper there are no folds, and programs stand in their lines", () => {
  const log = [call("1", false, "python", { code: "a = 1\nprint(a)" })];
  const logs = new Map([["r", log]]);
  const text = chatAsMarkdown("T", [message("assistant", "A", { run: "r" })], logs, labels, false);
  expect(text).toContain(
    "**1 steps**\n\n**python**\n\n```python\na = 1\nprint(a)\n```\n\n```text\n1\n```\n\n---\n\nA",
  );
  expect(text).not.toContain("<");
});

test("each source is named once", () => {
  const source = (id: string, title: string) => ({ id, title, url: `https://example.org/${id}` });
  const log = [
    event({ type: "sources_found", sources: [source("1", "Old")] }),
    event({ type: "sources_found", sources: [source("1", "One [x]"), source("2", "")] }),
  ];
  const text = chatAsMarkdown("T", [message("assistant", "A", { run: "r" })], new Map([["r", log]]), labels);
  expect(text).toContain(
    "### Sources\n\n- \\[1\\] [One x](<https://example.org/1>)\n- \\[2\\] [https://example.org/2](<https://example.org/2>)",
  );
});

test("document 000: a tool that returned nothing is marked as completed", () => {
  const logs = new Map([["r", [call(""), call('{"files":[]}'), call("", true)]]]);
  const text = chatAsMarkdown("A", [message("assistant", "Done", { run: "r" })], logs, labels);
  expect(text.match(/✓ completed/g)).toHaveLength(2);
});
