/** Form of an MCP server: the values as typed, and the change that they mean. */
import type { McpServer, McpServerChange, McpSignInKind } from "../../../api/types.ts";

/** How requests are authorized. A `token` is sent for everyone; the kinds after it are each person's own. */
export const authKinds = ["none", "token", "user_token", "oauth"] as const;
export type AuthKind = (typeof authKinds)[number];

export interface Header {
  name: string;
  value: string;
  /** Whether the server has it already; its value is unknown here. */
  isStored: boolean;
}

export interface McpForm {
  url: string;
  name: string;
  auth: AuthKind;
  token: string;
  tokenHeader: string;
  clientId: string;
  clientSecret: string;
  issuer: string;
  scopes: string;
  approval: McpServer["approval"];
  /** One name per line. */
  tools: string;
  timeout: string;
  headers: Header[];
}

const authorization = "authorization";
/** First labels of host names that say nothing about the server. */
const commonLabels = ["www", "api", "mcp"];

export function formOf(server: McpServer | null): McpForm {
  const hasToken = server?.headers.includes(authorization) ?? false;
  return {
    url: server?.url ?? "",
    name: server?.name ?? "",
    auth: server && server.sign_in !== "shared" ? server.sign_in : hasToken ? "token" : "none",
    token: "",
    tokenHeader: server?.token_header ?? "",
    clientId: server?.oauth?.client_id ?? "",
    clientSecret: "",
    issuer: server?.oauth?.issuer ?? "",
    scopes: server?.oauth?.scopes ?? "",
    approval: server?.approval ?? "auto",
    tools: server?.only_tools.join("\n") ?? "",
    timeout: String(server?.timeout_seconds ?? 120),
    headers: (server?.headers ?? [])
      .filter((name) => name !== authorization)
      .map((name) => ({ name, value: "", isStored: true })),
  };
}

/** A name for the server at this address: `tickets` for `https://mcp.tickets.example.org/v1`. */
export function suggestedName(url: string): string {
  let host: string;
  try {
    host = new URL(url).hostname;
  } catch {
    return "";
  }
  const labels = host.split(".");
  const label = labels.slice(0, -1).find((one) => !commonLabels.includes(one)) ?? labels[0] ?? "";
  const isAddress = /^[\d.:[\]]+$/.test(host);
  return (isAddress ? host : label)
    .replace(/[^a-z0-9-]+/gi, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 32);
}

export const isTimeout = (text: string) => /^\d{1,5}$/.test(text.trim()) && inBounds(Number(text));
const inBounds = (seconds: number) => seconds >= 1 && seconds <= 86_400;

const linesOf = (text: string) =>
  text
    .split(/[\n,،]/)
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Tokens are usually pasted without their scheme. */
const headerOf = (token: string) => (/\s/.test(token.trim()) ? token.trim() : `Bearer ${token.trim()}`);

/** What to send: everything for a new server, otherwise what differs from `server`. */
export function changeOf(form: McpForm, server: McpServer | null): McpServerChange {
  const before = formOf(server);
  const signIn: McpSignInKind = form.auth === "none" || form.auth === "token" ? "shared" : form.auth;
  const differs = (name: keyof McpForm) => server === null || form[name] !== before[name];
  const headers = headersOf(form, server);
  const oauth = {
    ...(differs("clientId") ? { client_id: form.clientId.trim() } : {}),
    ...(form.clientSecret.trim() ? { client_secret: form.clientSecret.trim() } : {}),
    ...(differs("issuer") ? { issuer: form.issuer.trim() } : {}),
    ...(differs("scopes") ? { scopes: form.scopes.trim() } : {}),
  };
  return {
    ...(differs("url") ? { url: form.url.trim() } : {}),
    ...(server?.sign_in === signIn ? {} : { sign_in: signIn }),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(signIn === "user_token" && differs("tokenHeader") ? { token_header: form.tokenHeader.trim() } : {}),
    ...(signIn === "oauth" && Object.keys(oauth).length > 0 ? { oauth } : {}),
    ...(differs("approval") ? { approval: form.approval } : {}),
    ...(differs("tools") ? { tools: linesOf(form.tools) } : {}),
    ...(differs("timeout") ? { timeout_seconds: Number(form.timeout) } : {}),
  };
}

function headersOf(form: McpForm, server: McpServer | null): Record<string, string | null> {
  const stored = server?.headers ?? [];
  const kept = form.headers.filter(({ isStored }) => isStored).map(({ name }) => name);
  const gone = stored.filter((name) => name !== authorization && !kept.includes(name));
  const isTokenGone = form.auth !== "token" && stored.includes(authorization);
  const set = form.headers.filter(({ name, value }) => name.trim() !== "" && value !== "");
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(set.map(({ name, value }) => [name.trim().toLowerCase(), value])),
    ...(isTokenGone ? { [authorization]: null } : {}),
    ...(form.auth === "token" && form.token.trim() ? { [authorization]: headerOf(form.token) } : {}),
  };
}
