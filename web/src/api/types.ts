/** What the HTTP API takes and gives (docs/reference/api.md). */
import type { Coded, Outcome, Part, RunEvent, RunSummary, ToolFile, Words } from "./events.ts";
import type { ModelParameters } from "./model-types.ts";

export type { Part, RunSummary, ToolFile };
export * from "./model-types.ts";

export interface User {
  id: string;
  email: string;
  name: string;
  role: "admin" | "user";
}

/** Somebody's account, as administrators see it. */
export interface Account extends User {
  created_at: number;
  suspended_at: number | null;
  /** Whether a code is asked for beside the password. */
  second_factor: boolean;
  /** The ids of the groups the person is in. */
  groups: string[];
  passkeys: boolean;
}

export type SignUpMode = "closed" | "invitation" | "open";

/** A link with which people make accounts. */
export interface Invitation {
  id: string;
  email: string | null;
  most_uses: number;
  uses: number;
  created_at: number;
  expires_at: number;
}

/** A browser somebody is signed in with. */
export interface BrowserSession {
  id: string;
  browser: string | null;
  system: string | null;
  address: string | null;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  current: boolean;
}

export interface ApiKey {
  id: string;
  name: string;
  created_at: number;
  last_used_at: number | null;
  prefix: string;
  /** Nothing where it may do all that its owner may. */
  scopes: KeyScope[] | null;
  /** Nothing where all. */
  models: string[] | null;
  expires_at: number | null;
  front_end: boolean;
  signs: boolean;
  /** How long the secret before is still good. */
  old_until: number | null;
}

export type KeyScope = "chat" | "read" | "write" | "admin";

export interface NewKey {
  name: string;
  scopes?: KeyScope[];
  models?: string[];
  expires_at?: number;
  front_end?: boolean;
  signing_key?: string;
}

export interface UsageSum {
  requests: number;
  input_tokens: number;
  output_tokens: number;
  /** Null if no price of the calls is known. */
  cost_micro_usd: number | null;
  cached_tokens: number;
  cache_write_tokens: number;
  reasoning_tokens: number;
  /** Calls whose price is unknown: their cost is not in the sum. */
  unpriced_requests: number;
  /** Calls whose tokens are an estimate. */
  estimated_requests: number;
}

export type UsageBy = "day" | "user" | "model" | "key" | "person";

export interface UsageRow extends UsageSum {
  name: string;
  label?: string;
}

export interface Usage {
  from: string;
  to: string;
  total: UsageSum;
  rows: UsageRow[];
}

/** An approval or a question that waits for the person. */
export interface InboxItem {
  run: string;
  chat: string | null;
  title: string;
  event: RunEvent;
}

/** Calls that need no consent any more: any of the tool, or those whose arguments fit the patterns. */
export interface AllowedCall {
  id: string;
  chat: string | null;
  tool: string;
  arguments: Record<string, string> | null;
  created_at: number;
}

/** A text that agents keep of the person. */
export interface MemoryContent {
  /** The one agent that has it; empty where all have it. */
  agent: string;
  name: string;
  description: string;
  text: string;
  /** Whether agents are told all of it when a run begins. */
  pinned: boolean;
}
export interface Memory extends MemoryContent {
  id: string;
  version: number;
  changed_at: number;
  /** The agent that changed it last; null where the person did. */
  author: { agent: string; chat: string | null } | null;
}

/** Something that agents have learned about the person. */
export interface Fact {
  id: string;
  text: string;
  /** Where it was learned; null where the chat is gone. */
  chat: string | null;
  message: string | null;
  learned_at: number;
  /** Whether it is in the person's own words. */
  corrected: boolean;
}

/** What an agent does at set times: at those of `cron`, or once. */
export interface ScheduleContent {
  name: string;
  prompt: string;
  model: string | null;
  cron: string | null;
  once_at: number | null;
  time_zone: string;
  new_chat: boolean;
  enabled: boolean;
}
/** A time that has come. */
export interface ScheduleTurn {
  due_at: number;
  noted_at: number;
  kind: "started" | "missed" | "still_going" | "failed";
  note: string | null;
  run: string | null;
  chat: string | null;
  outcome: Outcome | null;
}
export interface Schedule extends ScheduleContent {
  id: string;
  chat: string | null;
  next_at: number | null;
  /** Why it has turned itself off. */
  problem: "failed_often" | "no_time" | null;
  /** The newest first. */
  turns: ScheduleTurn[];
}

/** An address that is told when a background run has ended. */
export interface Webhook {
  id: string;
  /** Nothing where the server cannot read it any more. */
  url: string | null;
  created_at: number;
  last: {
    run: string;
    state: "pending" | "delivered" | "failed";
    attempts: number;
    tried_at: number | null;
    next_at: number | null;
    problem: string | null;
    sentence?: Coded;
  } | null;
}

/** What the person lets agents do with the memory. */
export interface MemoryUse {
  uses_memory: boolean;
  learns: boolean;
}

/** Whether agents can run programs, and with what. */
export interface Programs {
  /** Null while the server is finding out. */
  available: boolean | null;
  problem: Words | null;
  python_version: string | null;
  python_modules: string[];
  shell: boolean;
  latex: string[];
}

export interface McpServer {
  name: string;
  kind: "stdio" | "http";
  state: "connecting" | "connected" | "down";
  problems: Words[];
  tools: McpTool[];
}

export interface McpTool {
  name: string;
  description: string;
  needs_approval: boolean;
}

/** A server to which each person signs in. */
export interface McpSignIn {
  name: string;
  sign_in: "oauth" | "user_token";
  state: "signed_out" | "lapsed" | "connecting" | "connected" | "down";
  problems: Words[];
  tools: McpTool[];
}

export type ChatActivity = "idle" | "running" | "waiting";

export interface ChatRow {
  id: string;
  title: string;
  created_at: number;
  updated_at: number;
  state: ChatActivity;
  /** Whether a run has ended in it that the person has not looked at. */
  unread: boolean;
  /** It stands above the others. */
  pinned: boolean;
  /** It is put away. */
  archived: boolean;
  /** The folder it is in. */
  folder: string | null;
  tags: string[];
  /** The directory its files are in, by name; absent where they are virtual. */
  workspace?: string;
  /** Whose it is, where it is not the reader's own. */
  owner?: ChatOwner;
}

export interface ChatFolder {
  id: string;
  name: string;
  chats: number;
}

export interface ChatTag {
  tag: string;
  chats: number;
}

/** A piece of a text that was found; with `hit` it is a word that was looked for. */
export interface FoundPart {
  text: string;
  hit: boolean;
}

export interface FoundTitle {
  chat: ChatRow;
  parts: FoundPart[];
}

/** A message, or what a tool has answered in it. */
export interface FoundHit extends FoundTitle {
  message: string;
  role: "user" | "assistant";
  at: number;
  tool?: string;
  seq?: number;
  call?: string;
}

export interface ChatsFound {
  titles: FoundTitle[];
  hits: FoundHit[];
  next: string | null;
}

export interface ChatOwner {
  name: string;
  email: string;
}

/** A directory of the server that a new chat may work in. */
export interface WorkspaceChoice {
  name: string;
  read_only: boolean;
}

export interface ChatMessage {
  id: string;
  parent: string | null;
  role: "user" | "assistant";
  content: Part[];
  created_at: number;
  model?: string | null;
  run?: string | null;
  summary?: RunSummary | null;
  /** The schedule that said it, where the person did not. */
  schedule?: string;
  /** What could be said next. */
  follow_ups?: string[];
  /** The first of the answers that it stands beside. */
  beside?: string;
  /** The answers that it was made of. */
  made_of?: string[];
}

export interface Chat extends ChatRow {
  /** Of its model calls. */
  parameters: ModelParameters;
  current: string | null;
  messages: ChatMessage[];
}

export interface ChatFile {
  path: string;
  size_bytes: number;
  /** 0 for a file of a directory that this chat has not changed or looked at. */
  version: number;
  changed_at: number;
}

export interface FileChange extends ChatFile {
  deleted: boolean;
}

export interface FileVersion {
  version: number;
  size_bytes: number;
  changed_at: number;
  /** There was no file then. */
  deleted: boolean;
}

export interface DiffLine {
  kind: "same" | "added" | "removed";
  old?: number;
  new?: number;
  text: string;
}

export type FileDiff = { from: number; to: number } & (
  | {
      kind: "text";
      added_lines: number;
      removed_lines: number;
      hunks: { lines: DiffLine[] }[];
      cut: boolean;
    }
  | { kind: "binary" | "too_long" }
);
