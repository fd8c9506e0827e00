/** The form of an MCP server: the suggested name, and what is sent. */
import { describe, expect, test } from "vitest";
import type { McpServer } from "../../../api/types.ts";
import { changeOf, formOf, isTimeout, suggestedName } from "./form.ts";

const stored: McpServer = {
  name: "tickets",
  kind: "http",
  source: "settings",
  enabled: true,
  state: "connected",
  problems: [],
  tools: [],
  url: "https://tickets.example.org/mcp",
  headers: ["authorization", "x-team"],
  sign_in: "shared",
  token_header: null,
  oauth: null,
  approval: "auto",
  only_tools: ["read"],
  timeout_seconds: 120,
};

test.each([
  ["https://tickets.example.org/mcp", "tickets"],
  ["https://mcp.linear.app/sse", "linear"],
  ["https://api.githubcopilot.com/mcp/", "githubcopilot"],
  ["http://localhost:8000/mcp", "localhost"],
  ["http://127.0.0.1:8000/mcp", "127-0-0-1"],
  ["http://[::1]:8000/mcp", "1"],
  ["https://мир.example/mcp", "xn--h1ahn"],
  ["not an address", ""],
])("a server at %s is called %s", (url, name) => {
  expect(suggestedName(url)).toBe(name);
});

describe("of a new server", () => {
  const form = { ...formOf(null), url: " https://tickets.example.org/mcp ", name: "tickets" };

  test("everything is sent", () => {
    expect(changeOf({ ...form, auth: "token", token: " secret " }, null)).toEqual({
      url: "https://tickets.example.org/mcp",
      sign_in: "shared",
      headers: { authorization: "Bearer secret" },
      approval: "auto",
      tools: [],
      timeout_seconds: 120,
    });
  });

  test("a token may come with its scheme", () => {
    const { headers } = changeOf({ ...form, auth: "token", token: "Basic YTpi" }, null);
    expect(headers).toEqual({ authorization: "Basic YTpi" });
  });

  test("only the settings of the chosen kind are sent", () => {
    const oauth = { ...form, token: "left", clientId: "us", clientSecret: "s", tokenHeader: "X-Key" };
    expect(changeOf({ ...oauth, auth: "oauth" }, null)).toMatchObject({
      sign_in: "oauth",
      oauth: { client_id: "us", client_secret: "s" },
    });
    const change = changeOf({ ...oauth, auth: "user_token" }, null);
    expect(change).toMatchObject({ sign_in: "user_token", token_header: "X-Key" });
    expect(change.oauth).toBeUndefined();
    expect(change.headers).toBeUndefined();
  });
});

describe("of a stored server", () => {
  const form = formOf(stored);

  test("nothing is sent if nothing was changed", () => {
    expect(form.auth).toBe("token");
    expect(changeOf(form, stored)).toEqual({});
  });

  test("only what was changed is sent", () => {
    expect(changeOf({ ...form, tools: "read\nwrite, list\n", timeout: "60" }, stored)).toEqual({
      tools: ["read", "write", "list"],
      timeout_seconds: 60,
    });
  });

  test("headers are kept, replaced, removed and added", () => {
    const team = { name: "x-team", value: "", isStored: true };
    expect(changeOf({ ...form, headers: [] }, stored).headers).toEqual({ "x-team": null });
    const headers = [
      { ...team, value: "b" },
      { name: "X-More ", value: "c", isStored: false },
    ];
    expect(changeOf({ ...form, headers }, stored).headers).toEqual({ "x-team": "b", "x-more": "c" });
    const replaced = [{ name: "X-Team", value: "d", isStored: false }];
    expect(changeOf({ ...form, headers: replaced }, stored).headers).toEqual({ "x-team": "d" });
  });

  test("the token is removed with its kind", () => {
    expect(changeOf({ ...form, auth: "none" }, stored)).toEqual({ headers: { authorization: null } });
    expect(changeOf({ ...form, auth: "oauth" }, stored)).toEqual({
      sign_in: "oauth",
      headers: { authorization: null },
    });
  });
});

test.each([
  ["1", true],
  [" 86400 ", true],
  ["0", false],
  ["86401", false],
  ["1.5", false],
  ["", false],
])("%j as a timeout: %s", (text, isGood) => {
  expect(isTimeout(text)).toBe(isGood);
});
