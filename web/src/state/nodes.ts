/** Node types of a run's timeline; nodes are replaced, never mutated, so that changes are detected. */
import type {
  ArgumentInfo,
  MessageCode,
  Decision,
  HookEvent,
  Author,
  NoticeLevel,
  Outcome,
  Problem,
  ReceivedInput,
  Source,
  Todo,
  ToolFile,
  Usage,
  LocalizedText,
} from "../api/events.ts";
import type { FormField } from "./form.ts";

export type NodeId = string;

/** Number of added and removed lines; `null` if unknown. */
export interface LineCounts {
  added: number;
  removed: number;
}

/** One version of a file, written by a run. */
export interface FileChange {
  path: string;
  version: number;
  deleted: boolean;
  lines: LineCounts | null;
}

/** Net change of a file by a run. */
export interface FileNews extends FileChange {
  sizeBytes: number;
  /** The version before the run's first change. */
  from: number;
}

/** A status line of an agent. */
export interface Status {
  agent: NodeId | null;
  words: LocalizedText;
  /** When it was set. */
  at: number;
}

/** Attempts of an agent's current model call that have failed. */
export interface FailedAttempts {
  agent: NodeId | null;
  /** The latest reason. */
  why: LocalizedText;
}

/** The run itself; always present, under the ID `run`. */
export interface RunNode {
  kind: "run";
  model: string;
  message: string | null;
  chat: string | null;
  startedAt: number;
  endedAt: number | null;
  /** Current status lines, at most one per agent; the latest is last. */
  statuses: Status[];
  /** Model calls that are being retried, at most one per agent. */
  failedAttempts: FailedAttempts[];
  /** Steps of the main agent in order: texts, reasoning, tools, notices. */
  children: NodeId[];
  /** Texts of the main agent that are, or may turn out to be, the answer, and the inputs that it has read. */
  answers: NodeId[];
  /** What people wrote to the run and no agent has read yet, oldest first. */
  unread: readonly ReceivedInput[];
  /** Pending approvals and questions, oldest first. */
  waiting: NodeId[];
  /** Where the run can be forked: the event to fork after, keyed by the main agent's last step before it. */
  forks: Record<NodeId, number>;
  todos: Todo[];
  files: FileNews[];
  /** MCP servers that this run goes without, as they cannot be reached. */
  unreachable: string[];
  sources: Source[];
  tools: number;
  failed: number;
  agents: number;
  agentsRunning: number;
  latestTool: NodeId | null;
  outcome: Outcome | null;
  problem: Problem | null;
  usage: Usage;
  /** Size of the main agent's conversation in tokens, after its last model call; `null` before the first. */
  contextTokens: number | null;
  costMicroUsd: number | null;
}

export interface TextNode {
  kind: "text";
  text: string;
  done: boolean;
  /** `null` until known. */
  answer: boolean | null;
}

/** What a person wrote to the run, and an agent has read. */
export interface InputNode {
  kind: "input";
  by: Author;
  text: string;
  at: number;
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
  /** The arguments' JSON as streamed by the model. */
  argumentsText: string;
  /** The validated arguments; `undefined` until known. */
  arguments: unknown;
  progress: string | null;
  /** The tail of the streamed output; empty once there is a result. */
  output: string;
  result: string | null;
  /** Whether `result` is truncated and the server has the rest. */
  preview: boolean;
  truncated: boolean;
  /** The file with the whole result, if it was long. */
  file: string | null;
  /** Images, audio and other files produced by the call. */
  files: readonly ToolFile[];
  /** What the call wrote to the chat's files. */
  changes: readonly FileChange[];
  startedAt: number;
  durationMs: number | null;
  /** Sub-agents started by this call. */
  agents: NodeId[];
  /** Executed by the model's provider. */
  byProvider?: true;
}

export interface AgentNode {
  kind: "agent";
  name: string;
  /** The name of its definition; `null` in older logs. */
  type: string | null;
  task: string;
  /** The sub-agent it continues, as named by the model. */
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
  /** Number of its own open approvals and questions. */
  waiting: number;
  latestTool: NodeId | null;
}

export interface NoticeNode {
  kind: "notice";
  /** The run was resumed after a server restart; there is no message. */
  resumed?: true;
  /** The steps above are from another run; the message is the user's instruction for the fork, if any. */
  forked?: true;
  level: NoticeLevel;
  message: string;
  /** The message by its code. */
  sentence?: MessageCode | undefined;
}

/** The older part of an agent's conversation was replaced by a summary. */
export interface CompactionNode {
  kind: "compaction";
  /** Empty if summarising failed, and the older part was dropped. */
  summary: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** A change of a file by something else than a call that names it. */
export interface FileNode extends FileChange {
  kind: "file";
  /** Whether it is shown in the row of the call that produced this version. */
  inCall?: boolean;
}

/** A change of a memory. */
export interface MemoryNode {
  kind: "memory";
  name: string;
  state: "running" | "done" | "failed";
  deleted: boolean;
  lines: LineCounts | null;
}

/** A call of an administrator hook. */
export interface HookNode {
  kind: "hook";
  hook: string;
  event: HookEvent;
  /** The tool of the call it is about. */
  tool: string | null;
  state: "running" | "allowed" | "changed" | "context" | "denied" | "failed" | "stopped";
  /** The reason given by the hook, or the error. */
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
  /** Whether a standing approval can be given with it. */
  mayRemember: boolean;
  /** It opens a URL that came neither from the user nor from a search. */
  newAddress: boolean;
  /** What the tool says of its arguments. */
  info: readonly ArgumentInfo[];
  /** When the approval expires, if ever. */
  expiresAt: number | null;
}

export interface QuestionNode {
  kind: "question";
  question: string;
  call: string;
  text: string;
  options: string[];
  /** Form fields, unless it takes a free-text answer. */
  fields: FormField[] | null;
  agent: NodeId | null;
  answered: boolean;
  answer: string | null;
  /** The submitted form values. */
  values: Record<string, unknown> | null;
  /** Whether the user declined to answer. */
  declined: boolean;
  /** When the question expires, if ever. */
  expiresAt: number | null;
}

/** Whether it is a research plan awaiting changes. */
export const isResearchPlan = ({ fields, text }: QuestionNode) =>
  fields?.length === 1 && text === "This is the plan. Change it, or begin.";

export type TimelineNode =
  | RunNode
  | TextNode
  | InputNode
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
  failedAttempts: [],
  children: [],
  answers: [],
  unread: [],
  waiting: [],
  forks: {},
  todos: [],
  files: [],
  unreachable: [],
  sources: [],
  tools: 0,
  failed: 0,
  agents: 0,
  agentsRunning: 0,
  latestTool: null,
  outcome: null,
  problem: null,
  usage: { input_tokens: 0, output_tokens: 0 },
  contextTokens: null,
  costMicroUsd: null,
};
