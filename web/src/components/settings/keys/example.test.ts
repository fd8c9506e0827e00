/** The command that uses a new key. */
import { expect, test } from "vitest";
import { curlOf } from "./example.ts";

const use = {
  baseUrl: "https://ai.example.org",
  secret: "gh_1",
  scopes: null,
  model: "qwen3",
  greeting: "Hi",
};

test("a key for models asks one", () => {
  expect(curlOf(use)).toBe(
    [
      "curl 'https://ai.example.org/v1/chat/completions' \\",
      "  -H 'Authorization: Bearer gh_1' \\",
      "  -H 'Content-Type: application/json' \\",
      `  -d '{"model":"qwen3","messages":[{"role":"user","content":"Hi"}]}'`,
    ].join("\n"),
  );
});

test("quotes in a model's name do not end the command", () => {
  expect(curlOf({ ...use, model: `it's "x"` })).toContain(String.raw`{"model":"it'\''s \"x\""`);
});

test("a key that cannot use models shows what it can", () => {
  expect(curlOf({ ...use, scopes: ["read"] })).toBe(
    "curl 'https://ai.example.org/api/v1/chats' \\\n  -H 'Authorization: Bearer gh_1'",
  );
  expect(curlOf({ ...use, scopes: ["write"] })).toBe("");
});
