/**
 * Reduces a run's log to a map of nodes. Pure functions: the same log gives the same map, whether its deltas were seen
 * or skipped, and an event replaces only the nodes it affects.
 */
import type { MessageCode, EventBody, Outcome, RunEvent, LocalizedText } from "../api/events.ts";
import { approvalNode, questionNode } from "./asks.ts";
import { callOfChange, showInCall } from "./call-files.ts";
import { hookEnd, hookNode } from "./hooks.ts";
import { linesOf, spent, sum } from "./sums.ts";
import {
  emptyRun,
  type Kind,
  type NodeId,
  type NodeOf,
  type RunNode,
  type TimelineNode,
  type ToolState,
} from "./nodes.ts";

export interface Timeline {
  nodes: Map<NodeId, TimelineNode>;
  /** Sequence number of the last event; earlier events are ignored, so that repeated ones are harmless. */
  seq: number;
}

export const runId: NodeId = "run";
export const agentId = (path: string[] | undefined): NodeId | null =>
  path?.length ? `agent ${path.at(-1)}` : null;
export const toolId = (call: string): NodeId => `tool ${call}`;

/** An empty timeline that stores its nodes in `nodes`. */
export function createTimeline(nodes: Map<NodeId, TimelineNode> = new Map()): Timeline {
  if (!nodes.has(runId)) nodes.set(runId, emptyRun);
  return { nodes, seq: 0 };
}

/** The node with this ID, if it has this kind. */
export function nodeOf<K extends Kind>(
  nodes: Map<NodeId, TimelineNode>,
  id: NodeId | null,
  kind: K,
): NodeOf<K> | undefined {
  const node = id === null ? undefined : nodes.get(id);
  return node?.kind === kind ? (node as NodeOf<K>) : undefined;
}

export function runOf(timeline: Timeline): RunNode {
  return nodeOf(timeline.nodes, runId, "run") ?? emptyRun;
}

/** Applies one event. */
export function reduce(timeline: Timeline, logged: RunEvent): void {
  const event = asToday(logged);
  if (event.seq <= timeline.seq) return;
  noteFork(timeline, event);
  timeline.seq = event.seq;
  switch (event.body.type) {
    case "text_started":
    case "text_delta":
    case "text_finished":
      return reduceText(timeline, event, event.body);
    case "reasoning_started":
    case "reasoning_delta":
    case "reasoning_finished":
      return reduceReasoning(timeline, event, event.body);
    case "tool_requested":
    case "tool_arguments_delta":
    case "tool_started":
    case "tool_progress":
    case "tool_output":
    case "tool_finished":
      return reduceTool(timeline, event, event.body);
    case "approval_asked":
    case "approval_answered":
    case "question_asked":
    case "question_answered":
      return reduceWaiting(timeline, event, event.body);
    case "agent_started":
    case "agent_finished":
      return reduceAgent(timeline, event, event.body);
    default:
      return reduceRun(timeline, event, event.body);
  }
}

/** Between two model calls of the main agent nothing is pending: there the run can be forked. */
function noteFork(timeline: Timeline, event: RunEvent): void {
  const last = event.body.type === "step_started" ? runOf(timeline).children.at(-1) : undefined;
  if (last === undefined || agentId(event.agent) !== null) return;
  const after = timeline.seq;
  change(timeline, runId, "run", (run) => ({ forks: { ...run.forks, [last]: after } }));
}

/** Renames an event of an older log to its current name. */
function asToday(event: RunEvent): RunEvent {
  if ((event.body.type as string) !== "memory_changed") return event;
  return { ...event, body: { ...event.body, type: "memory_update_completed" } as EventBody };
}

export type BodyOf<T extends EventBody["type"]> = Extract<EventBody, { type: T }>;

function change<K extends Kind>(
  timeline: Timeline,
  id: NodeId | null,
  kind: K,
  news: (node: NodeOf<K>) => Partial<NodeOf<K>>,
): void {
  const node = nodeOf(timeline.nodes, id, kind);
  if (node && id !== null) timeline.nodes.set(id, { ...node, ...news(node) } as TimelineNode);
}

/** Adds a node and lists it under its agent; an existing node is kept. */
function open(timeline: Timeline, event: RunEvent, id: NodeId, node: TimelineNode): void {
  if (timeline.nodes.has(id)) return;
  timeline.nodes.set(id, node);
  const agent = agentId(event.agent);
  if (agent === null) change(timeline, runId, "run", (run) => ({ children: [...run.children, id] }));
  else change(timeline, agent, "agent", (parent) => ({ children: [...parent.children, id] }));
}

function reduceText(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<"text_started" | "text_delta" | "text_finished">,
): void {
  const id = `text ${body.item}`;
  const isMain = agentId(event.agent) === null;
  if (!timeline.nodes.has(id)) {
    open(timeline, event, id, { kind: "text", text: "", done: false, answer: null });
    if (isMain) change(timeline, runId, "run", (run) => ({ answers: [...run.answers, id] }));
  }
  if (body.type === "text_delta") {
    change(timeline, id, "text", (node) => ({ text: node.text + body.delta }));
  } else if (body.type === "text_finished") {
    change(timeline, id, "text", () => ({ text: body.text, done: true, answer: body.answer }));
    if (isMain && !body.answer) {
      change(timeline, runId, "run", (run) => ({ answers: run.answers.filter((answer) => answer !== id) }));
    }
    if (body.reasoning) {
      const { text } = body;
      timeline.nodes.set(id, { kind: "reasoning", text, done: true, startedAt: event.at, durationMs: 0 });
    }
  }
}

function reduceReasoning(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<"reasoning_started" | "reasoning_delta" | "reasoning_finished">,
): void {
  const id = `reasoning ${body.item}`;
  open(timeline, event, id, {
    kind: "reasoning",
    text: "",
    done: false,
    startedAt: event.at,
    durationMs: null,
  });
  if (body.type === "reasoning_delta") {
    change(timeline, id, "reasoning", (node) => ({ text: node.text + body.delta }));
  } else if (body.type === "reasoning_finished") {
    change(timeline, id, "reasoning", () => ({ text: body.text, done: true, durationMs: body.duration_ms }));
  }
}

/** Maximum length of streamed program output kept while running. */
const outputLength = 20_000;
const lastLine = (text: string) => (text.trimEnd().split("\n").at(-1) ?? "").slice(0, 200);

function reduceTool(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<
    | "tool_requested"
    | "tool_arguments_delta"
    | "tool_started"
    | "tool_progress"
    | "tool_output"
    | "tool_finished"
  >,
): void {
  const id = toolId(body.call);
  if (!timeline.nodes.has(id) && "name" in body) openTool(timeline, event, id, body.call, body.name);
  switch (body.type) {
    case "tool_requested":
      return body.by_provider ? change(timeline, id, "tool", () => ({ byProvider: true })) : undefined;
    case "tool_arguments_delta":
      return change(timeline, id, "tool", (node) => ({ argumentsText: node.argumentsText + body.delta }));
    case "tool_started":
      return change(timeline, id, "tool", () => ({
        state: "running",
        name: body.name,
        arguments: body.arguments,
        startedAt: event.at,
      }));
    case "tool_progress":
      return change(timeline, id, "tool", () => ({ progress: body.message }));
    case "tool_output":
      return change(timeline, id, "tool", ({ output, progress }) => ({
        output: (output + body.text).slice(-outputLength),
        progress: body.text.trim() === "" ? progress : lastLine(body.text),
      }));
    case "tool_finished":
      return finishTool(timeline, event, id, body);
  }
}

function openTool(timeline: Timeline, event: RunEvent, id: NodeId, call: string, name: string): void {
  open(timeline, event, id, {
    kind: "tool",
    call,
    name,
    state: "writing",
    argumentsText: "",
    arguments: undefined,
    progress: null,
    output: "",
    result: null,
    preview: false,
    truncated: false,
    file: null,
    files: [],
    changes: [],
    startedAt: event.at,
    durationMs: null,
    agents: [],
  });
  change(timeline, runId, "run", (run) => ({ tools: run.tools + 1, latestTool: id }));
  forEachAgent(event, (agent) =>
    change(timeline, agent, "agent", (node) => ({ tools: node.tools + 1, latestTool: id })),
  );
}

function finishTool(timeline: Timeline, event: RunEvent, id: NodeId, body: BodyOf<"tool_finished">): void {
  // The server marks a truncated result on the event or in its body, depending on its version.
  const isPreview = "preview" in event || "preview" in body;
  const isStopped = body.stopped || wereStopped(timeline, id);
  change(timeline, id, "tool", () => ({
    state: isStopped && !body.in_doubt ? "stopped" : endOf(body),
    name: body.name,
    arguments: body.arguments,
    argumentsText: "",
    progress: null,
    output: "",
    result: body.result,
    preview: isPreview,
    truncated: body.truncated,
    file: body.file ?? null,
    files: body.files ?? [],
    durationMs: body.duration_ms,
  }));
  showInCall(timeline.nodes, body.files ?? []);
  // A call that ended early because its run or agent did has not failed.
  if (!body.error || isStopped) return;
  change(timeline, runId, "run", (run) => ({ failed: run.failed + 1 }));
  forEachAgent(event, (agent) => change(timeline, agent, "agent", (node) => ({ failed: node.failed + 1 })));
}

function endOf(body: BodyOf<"tool_finished">): ToolState {
  if (body.in_doubt) return "in_doubt";
  return body.error ? "failed" : "done";
}

/** Whether the user stopped the agents of this call, such as by requesting the research report now. */
function wereStopped(timeline: Timeline, id: NodeId): boolean {
  const agents = nodeOf(timeline.nodes, id, "tool")?.agents ?? [];
  return (
    agents.length > 0 &&
    agents.every((agent) => nodeOf(timeline.nodes, agent, "agent")?.outcome === "cancelled")
  );
}

function forEachAgent(event: RunEvent, visit: (agent: NodeId) => void): void {
  for (const id of event.agent ?? []) visit(`agent ${id}`);
}

function reduceWaiting(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<"approval_asked" | "approval_answered" | "question_asked" | "question_answered">,
): void {
  const agent = agentId(event.agent);
  const id = "approval" in body ? `approval ${body.approval}` : `question ${body.question}`;
  if (body.type === "approval_asked") {
    timeline.nodes.set(id, approvalNode(body, event.at, agent));
  } else if (body.type === "question_asked") {
    open(timeline, event, id, questionNode(body, event.at, agent));
  } else if (body.type === "approval_answered") {
    const { decision, edited, reason = null } = body;
    change(timeline, id, "approval", () => ({ decision, edited, reason }));
  } else {
    const { answer = null, values = null, declined = false } = body;
    change(timeline, id, "question", () => ({ answered: true, answer, values, declined }));
  }
  const begins = "call" in body;
  const node = timeline.nodes.get(id);
  if (node?.kind !== "approval" && node?.kind !== "question") return;
  change(timeline, toolId(node.call), "tool", (tool) =>
    tool.state === "writing" || tool.state === "running" || tool.state === "waiting"
      ? { state: begins ? "waiting" : "running" }
      : {},
  );
  change(timeline, runId, "run", (run) => ({
    waiting: begins ? [...run.waiting, id] : run.waiting.filter((other) => other !== id),
  }));
  change(timeline, agent, "agent", (owner) => ({
    waiting: Math.max(0, owner.waiting + (begins ? 1 : -1)),
  }));
}

function reduceAgent(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<"agent_started" | "agent_finished">,
): void {
  const id = agentId(event.agent);
  if (id === null) return;
  if (body.type === "agent_finished") {
    change(timeline, id, "agent", () => ({
      outcome: body.outcome,
      result: body.result,
      endedAt: event.at,
      waiting: 0,
    }));
    change(timeline, runId, "run", (run) => ({
      agentsRunning: Math.max(0, run.agentsRunning - 1),
      statuses: withoutStatus(run, id),
    }));
    return;
  }
  timeline.nodes.set(id, {
    kind: "agent",
    name: body.name,
    type: body.agent_type ?? null,
    task: body.task,
    continues: body.continues ?? null,
    call: body.call,
    depth: event.agent?.length ?? 1,
    outcome: null,
    result: null,
    startedAt: event.at,
    endedAt: null,
    children: [],
    tools: 0,
    failed: 0,
    waiting: 0,
    latestTool: null,
  });
  change(timeline, toolId(body.call), "tool", (tool) => ({ agents: [...tool.agents, id] }));
  change(timeline, runId, "run", (run) => ({
    agents: run.agents + 1,
    agentsRunning: run.agentsRunning + 1,
  }));
}

function reduceRun(timeline: Timeline, event: RunEvent, body: EventBody): void {
  const set = (news: (run: RunNode) => Partial<RunNode>) => change(timeline, runId, "run", news);
  switch (body.type) {
    case "run_started":
      return set(() => ({
        model: body.model,
        chat: body.chat ?? null,
        message: body.message ?? null,
        startedAt: event.at,
      }));
    case "status":
      return set((run) => {
        const agent = agentId(event.agent);
        const others = withoutStatus(run, agent);
        if (body.hidden || body.done) return { statuses: others };
        const words = wordsOf(body.description, body.sentence);
        return { statuses: [...others, { agent, words, at: event.at }] };
      });
    case "step_started":
    case "model_requested":
      return set((run) => ({ failedAttempts: withoutAttempts(run, agentId(event.agent)) }));
    case "plan_changed":
      // Only the main agent's plan is shown in the strip, not a sub-agent's.
      return agentId(event.agent) === null ? set(() => ({ todos: body.todos })) : undefined;
    case "file_changed":
      return changeFile(timeline, event, body);
    case "memory_update_started":
    case "memory_update_completed":
      return changeMemory(timeline, event, body);
    case "hook_started":
    case "hook_finished":
      open(timeline, event, `hook ${body.id}`, hookNode(body));
      return change(timeline, `hook ${body.id}`, "hook", () => hookEnd(body));
    case "sources_found":
      return set((run) => ({ sources: [...run.sources, ...body.sources] }));
    case "input_received":
      return set(({ unread }) => ({ unread: [...unread, body] }));
    case "input_applied":
      return readInput(timeline, event, body.input_id);
    case "input_removed":
      return set((run) => ({ unread: withoutInput(run, body.input_id) }));
    case "run_resumed":
      return open(timeline, event, `notice ${event.seq}`, {
        kind: "notice",
        level: "info",
        message: "",
        resumed: true,
      });
    case "run_forked":
      // Usage of the forked run is not counted again.
      set(() => ({ startedAt: event.at, usage: emptyRun.usage, costMicroUsd: null, unread: [] }));
      return open(timeline, event, `notice ${event.seq}`, {
        kind: "notice",
        level: "info",
        message: body.guidance ?? "",
        forked: true,
      });
    case "notice":
      return noteNotice(timeline, event, body);
    case "context_compacted":
      open(timeline, event, `compaction ${event.seq}`, {
        kind: "compaction",
        summary: body.summary,
        tokensBefore: body.tokens_before,
        tokensAfter: body.tokens_after,
      });
      return set((run) => ({
        ...spent(run, body),
        ...(agentId(event.agent) === null && { contextTokens: body.tokens_after }),
      }));
    case "model_called":
      return set((run) => ({
        ...spent(run, body),
        ...(agentId(event.agent) === null &&
          !body.broken_off && { contextTokens: body.usage.input_tokens + body.usage.output_tokens }),
      }));
    case "run_finished":
      set(() => ({
        statuses: [],
        failedAttempts: [],
        endedAt: event.at,
        outcome: body.outcome,
        problem: body.problem ?? null,
        usage: body.usage,
        costMicroUsd: body.cost_micro_usd ?? null,
        waiting: [],
        agentsRunning: 0,
      }));
      return settle(timeline, event.at, body.outcome);
  }
}

/** An input of a person becomes a part of the conversation. */
function readInput(timeline: Timeline, event: RunEvent, input: string): void {
  const run = runOf(timeline);
  const read = run.unread.find(({ input_id }) => input_id === input);
  if (!read) return;
  const id = `input ${input}`;
  const at = event.at;
  open(timeline, event, id, { kind: "input", by: read.by, text: read.content, at });
  const isMain = agentId(event.agent) === null;
  change(timeline, runId, "run", ({ answers }) => ({
    unread: withoutInput(run, input),
    answers: isMain ? [...answers, id] : answers,
  }));
}

const withoutInput = (run: RunNode, input: string): RunNode["unread"] =>
  run.unread.filter(({ input_id }) => input_id !== input);

/** The status lines of all agents but this one. */
const withoutStatus = (run: RunNode, agent: NodeId | null): RunNode["statuses"] =>
  run.statuses.filter((status) => status.agent !== agent);

const withoutAttempts = (run: RunNode, agent: NodeId | null): RunNode["failedAttempts"] =>
  run.failedAttempts.filter((attempts) => attempts.agent !== agent);

const wordsOf = (message: string, sentence: MessageCode | undefined): LocalizedText =>
  sentence ? { message, sentence } : { message };

function noteNotice(timeline: Timeline, event: RunEvent, body: BodyOf<"notice">): void {
  const { level, message, sentence, failed_try: isFailedTry = false } = body;
  // A failed attempt is replaced by its end: the answer, or the run's problem. That another model answers stays visible.
  if (isFailedTry && sentence?.code !== "other_model") return noteFailedAttempt(timeline, event, body);
  const away = sentence?.code === "mcp_server_away" ? sentence.params?.name : undefined;
  if (typeof away === "string") {
    change(timeline, runId, "run", (run) => ({ unreachable: [...run.unreachable, away] }));
  }
  open(timeline, event, `notice ${event.seq}`, { kind: "notice", level, message, sentence });
}

function noteFailedAttempt(timeline: Timeline, event: RunEvent, body: BodyOf<"notice">): void {
  const agent = agentId(event.agent);
  const attempt = { agent, why: wordsOf(body.message, body.sentence) };
  change(timeline, runId, "run", (run) => ({
    failedAttempts: [...withoutAttempts(run, agent), attempt],
  }));
}

/** A memory update: its row shows a spinner until it ends. Older logs have only the end event. */
function changeMemory(
  timeline: Timeline,
  event: RunEvent,
  body: BodyOf<"memory_update_started" | "memory_update_completed">,
): void {
  const id = `memory ${body.call ?? ""}`;
  const isOver = body.type === "memory_update_completed";
  const failed = isOver && body.error !== undefined;
  open(timeline, event, id, {
    kind: "memory",
    name: body.name ?? "",
    state: "running",
    deleted: false,
    lines: null,
  });
  if (!isOver) return;
  change(timeline, id, "memory", () => ({
    state: failed ? "failed" : "done",
    deleted: body.deleted ?? false,
    lines: linesOf(body),
  }));
}

function changeFile(timeline: Timeline, event: RunEvent, body: BodyOf<"file_changed">): void {
  const { path, version, size_bytes: sizeBytes, deleted = false } = body;
  const lines = linesOf(body);
  const made = { path, version, deleted, lines };
  const agent = agentId(event.agent);
  const steps = (nodeOf(timeline.nodes, agent, "agent") ?? runOf(timeline)).children;
  const call = callOfChange(timeline.nodes, steps, made);
  if (call === null) open(timeline, event, `file ${event.seq}`, { kind: "file", ...made });
  else change(timeline, call, "tool", (node) => ({ changes: [...node.changes, made] }));
  change(timeline, runId, "run", (run) => {
    const before = run.files.find((file) => file.path === path);
    const both = before ? before.lines && lines && sum(before.lines, lines) : lines;
    const news = { path, version, sizeBytes, deleted, from: before?.from ?? version - 1, lines: both };
    return { files: [...run.files.filter((file) => file.path !== path), news] };
  });
}

/** The run is over: ends all running nodes. */
function settle(timeline: Timeline, at: number, outcome: Outcome): void {
  for (const [id, node] of timeline.nodes) {
    if ((node.kind === "text" || node.kind === "reasoning") && !node.done) {
      timeline.nodes.set(id, { ...node, done: true });
    } else if (node.kind === "tool" && ["writing", "waiting", "running"].includes(node.state)) {
      timeline.nodes.set(id, { ...node, state: "stopped" });
    } else if (node.kind === "agent" && node.outcome === null) {
      timeline.nodes.set(id, {
        ...node,
        outcome: outcome === "completed" ? "cancelled" : outcome,
        endedAt: at,
      });
    } else if (node.kind === "approval" && node.decision === null) {
      timeline.nodes.set(id, { ...node, decision: "withdrawn" });
    } else if (node.kind === "memory" && node.state === "running") {
      timeline.nodes.set(id, { ...node, state: "failed" });
    } else if (node.kind === "question" && !node.answered) {
      timeline.nodes.set(id, { ...node, answered: true });
    }
  }
}
