/** The shapes a run's timeline is made of; each is replaced, never changed, so that a reader sees news. */
import type {
  MessageCode,
  Decision,
  HookEvent,
  NoticeLevel,
  Outcome,
  Problem,
  Source,
  Todo,
  ToolFile,
  Usage,
  LocalizedText,
} from "../api/events.ts";
import type { FormField } from "./form.ts";

export type NodeId = string;

/** How many lines came and went; null where that is not known. */
export interface LineCounts {
  added: number;
  removed: number;
}

/** What a run has made of a file. */
export interface FileNews {
  path: string;
  version: number;
  sizeBytes: number;
  deleted: boolean;
  /** The version before the run's first change. */
  from: number;
  lines: LineCounts | null;
}

/** The run itself; always there, under the id `run`. */
export interface RunNode {
  kind: "run";
  model: string;
  message: string | null;
  chat: string | null;
  startedAt: number;
  endedAt: number | null;
  /** What agents say that they are doing, one line for each of them at most; the latest is last. */
  statuses: { agent: NodeId | null; words: LocalizedText }[];
  /** What the main agent did, in order: texts, reasoning, tools, notices. */
  children: NodeId[];
  /** Texts of the main agent that are, or may turn out to be, the answer. */
  answers: NodeId[];
  /** Approvals and questions that wait for a person, oldest first. */
  waiting: NodeId[];
  /** Where another run can go on: the event to fork after, by the last thing the main agent did before it. */
  forks: Record<NodeId, number>;
  todos: Todo[];
  files: FileNews[];
  sources: Source[];
  tools: number;
  failed: number;
  agents: number;
  agentsRunning: number;
  latestTool: NodeId | null;
  outcome: Outcome | null;
  problem: Problem | null;
  usage: Usage;
  costMicroUsd: number | null;
}

export interface TextNode {
  kind: "text";
  text: string;
  done: boolean;
  /** null while it is not known yet. */
  answer: boolean | null;
}

export interface ReasoningNode {
  kind: "reasoning";
  text: string;
  done: boolean;
  startedAt: number;
  durationMs: number | null;
}

export type ToolState = "writing" | "waiting" | "running" | "done" | "failed" | "stopped" | "in_doubt";

export interface ToolNode {
  kind: "tool";
  call: string;
  name: string;
  state: ToolState;
  /** The arguments' JSON as the model writes it. */
  argumentsText: string;
  /** The checked arguments; undefined until they are known. */
  arguments: unknown;
  progress: string | null;
  /** What it has printed so far, the last part of it; empty once there is a result. */
  output: string;
  result: string | null;
  /** Whether `result` is only the beginning and the server has the rest. */
  preview: boolean;
  truncated: boolean;
  /** The file that has the whole result, where it was long. */
  file: string | null;
  /** The pictures, sounds and other files that it produced. */
  files: readonly ToolFile[];
  startedAt: number;
  durationMs: number | null;
  /** Sub-agents this call started. */
  agents: NodeId[];
  /** The model's provider runs it. */
  byProvider?: true;
}

export interface AgentNode {
  kind: "agent";
  name: string;
  task: string;
  /** The sub-agent that it goes on from, as the model names it. */
  continues: string | null;
  call: string;
  depth: number;
  outcome: Outcome | null;
  result: string | null;
  startedAt: number;
  endedAt: number | null;
  children: NodeId[];
  tools: number;
  failed: number;
  /** How many of its own approvals and questions are open. */
  waiting: number;
  latestTool: NodeId | null;
}

export interface NoticeNode {
  kind: "notice";
  /** The run went on after a restart of the server; then there is no message. */
  resumed?: true;
  /** What is above was done by another run; then the message is what the person told the model here, if anything. */
  forked?: true;
  level: NoticeLevel;
  message: string;
  /** The message by its code. */
  sentence?: MessageCode | undefined;
}

/** The older part of an agent's conversation has become a summary. */
export interface CompactionNode {
  kind: "compaction";
  /** Empty where none could be had, and the older part was left out. */
  summary: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** One change of a file. */
export interface FileNode {
  kind: "file";
  path: string;
  version: number;
  deleted: boolean;
  lines: LineCounts | null;
  /** Whether the row of the call that produced this state shows it. */
  inCall?: boolean;
}

/** One change of what agents remember. */
export interface MemoryNode {
  kind: "memory";
  name: string;
  state: "running" | "done" | "failed";
  deleted: boolean;
  lines: LineCounts | null;
}

/** One call of a hook of the administrator. */
export interface HookNode {
  kind: "hook";
  hook: string;
  event: HookEvent;
  /** The tool of the call that it is about. */
  tool: string | null;
  state: "running" | "allowed" | "changed" | "context" | "denied" | "failed" | "stopped";
  /** Why, in its own words, or what went wrong with it. */
  reason: string | null;
  durationMs: number | null;
}

export interface ApprovalNode {
  kind: "approval";
  approval: string;
  call: string;
  name: string;
  arguments: unknown;
  agent: NodeId | null;
  decision: Decision | null;
  reason: string | null;
  edited: boolean;
  /** Whether further calls may be allowed with it. */
  mayRemember: boolean;
  /** It opens an address that neither the person nor a search has named. */
  newAddress: boolean;
  /** When it is refused, if ever. */
  expiresAt: number | null;
}

export interface QuestionNode {
  kind: "question";
  question: string;
  call: string;
  text: string;
  options: string[];
  /** What there is to fill in, where it is not one answer in words. */
  fields: FormField[] | null;
  agent: NodeId | null;
  answered: boolean;
  answer: string | null;
  /** What was filled in. */
  values: Record<string, unknown> | null;
  /** Somebody said that there will be no answer. */
  declined: boolean;
  /** When nobody can answer it any more, if ever. */
  expiresAt: number | null;
}

/** Whether it is the plan of research, which waits for changes. */
export const isResearchPlan = ({ fields, text }: QuestionNode) =>
  fields?.length === 1 && text === "This is the plan. Change it, or begin.";

export type TimelineNode =
  | RunNode
  | TextNode
  | ReasoningNode
  | ToolNode
  | AgentNode
  | NoticeNode
  | CompactionNode
  | HookNode
  | FileNode
  | MemoryNode
  | ApprovalNode
  | QuestionNode;

export type Kind = TimelineNode["kind"];
export type NodeOf<K extends Kind> = Extract<TimelineNode, { kind: K }>;

export const emptyRun: RunNode = {
  kind: "run",
  model: "",
  message: null,
  chat: null,
  startedAt: 0,
  endedAt: null,
  statuses: [],
  children: [],
  answers: [],
  waiting: [],
  forks: {},
  todos: [],
  files: [],
  sources: [],
  tools: 0,
  failed: 0,
  agents: 0,
  agentsRunning: 0,
  latestTool: null,
  outcome: null,
  problem: null,
  usage: { input_tokens: 0, output_tokens: 0 },
  costMicroUsd: null,
};
