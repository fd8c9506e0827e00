/** The timeline with complete logs: parallel calls, nested agents, replay, stopping, size. */
import { describe, expect, test } from "vitest";
import type { EventBody, RunEvent } from "../api/events.ts";
import { createTimeline, nodeOf, reduce, runOf, type Timeline } from "./timeline.ts";

type Entry = EventBody | [agent: string[], body: EventBody];

function logOf(entries: Entry[]): RunEvent[] {
  return entries.map((entry, index) => {
    const [agent, body] = Array.isArray(entry) ? entry : [[], entry];
    return { run: "run_1", seq: index + 1, at: 1000 + index, ...(agent.length > 0 ? { agent } : {}), body };
  });
}

function read(events: RunEvent[]): Timeline {
  const timeline = createTimeline();
  for (const event of events) reduce(timeline, event);
  return timeline;
}

const usage = { input_tokens: 10, output_tokens: 5 };
const started: EventBody = { type: "run_started", model: "m" };
const completed: EventBody = { type: "run_finished", outcome: "completed", usage };
const requested = (call: string, name = "ls"): EventBody => ({ type: "tool_requested", call, name });
const running = (call: string, args: unknown = {}, name = "ls"): EventBody => ({
  type: "tool_started",
  call,
  name,
  arguments: args,
  repeatable: true,
});
const finished = (call: string, result = "ok", error = false, duration_ms = 7, name = "ls") => ({
  type: "tool_finished" as const,
  call,
  name,
  arguments: {},
  result,
  error,
  truncated: false,
  duration_ms,
});
const toolOf = (timeline: Timeline, call: string) => nodeOf(timeline.nodes, `tool ${call}`, "tool");
const agentOf = (timeline: Timeline, id: string) => nodeOf(timeline.nodes, `agent ${id}`, "agent");

const changed = (
  path: string,
  version: number,
  lines: [added: number, removed: number] | null,
  deleted?: true,
): EventBody => ({
  type: "file_changed",
  path,
  version,
  size_bytes: 9,
  ...(lines ? { added_lines: lines[0], removed_lines: lines[1] } : {}),
  ...(deleted ? { deleted } : {}),
});

test("the pictures of a call stand in its row, also of a call that failed", () => {
  const files = [{ path: "/results/shot-1.png", version: 1, media_type: "image/png", size_bytes: 70 }];
  const log = logOf([
    started,
    requested("c1"),
    running("c1"),
    { ...finished("c1"), files },
    requested("c2"),
    { ...finished("c2", "no", true), files },
    requested("c3"),
    finished("c3"),
  ]);
  const timeline = read(log);
  expect(["c1", "c2", "c3"].map((call) => toolOf(timeline, call)?.files)).toEqual([files, files, []]);
});

test("text that turned out to be reasoning is a step, not a part of the answer", () => {
  const timeline = read(
    logOf([
      started,
      { type: "text_started", item: "t1" },
      { type: "text_delta", item: "t1", delta: "They greet me." },
      { type: "text_finished", item: "t1", text: "They greet me.", answer: false, reasoning: true },
      { type: "text_started", item: "t2" },
      { type: "text_finished", item: "t2", text: "Hello.", answer: true },
    ]),
  );
  expect(runOf(timeline).answers).toEqual(["text t2"]);
  expect(nodeOf(timeline.nodes, "text t1", "reasoning")).toMatchObject({
    text: "They greet me.",
    done: true,
  });
});

test("what a run makes of a file is told as one change, each change as a step", () => {
  const timeline = read(
    logOf([
      started,
      changed("/a.md", 3, [2, 1]),
      changed("/plot.png", 1, null),
      [["a1"], { type: "agent_started", name: "Reader", call: "c1", task: "read" }],
      [["a1"], changed("/a.md", 4, [1, 0])],
      changed("/gone.md", 7, [0, 5], true),
      changed("/plot.png", 2, null),
      completed,
    ]),
  );
  expect(runOf(timeline).files).toEqual([
    { path: "/a.md", version: 4, sizeBytes: 9, deleted: false, from: 2, lines: { added: 3, removed: 1 } },
    { path: "/gone.md", version: 7, sizeBytes: 9, deleted: true, from: 6, lines: { added: 0, removed: 5 } },
    { path: "/plot.png", version: 2, sizeBytes: 9, deleted: false, from: 0, lines: null },
  ]);
  expect(agentOf(timeline, "a1")?.children).toEqual(["file 5"]);
  expect(nodeOf(timeline.nodes, "file 5", "file")).toEqual({
    kind: "file",
    path: "/a.md",
    version: 4,
    deleted: false,
    lines: { added: 1, removed: 0 },
  });
});

test("document 001: a memory update is a step from its beginning to its end", () => {
  const begun = (call: string): Entry => ({ type: "memory_update_started", call, name: "likes" });
  const over = { type: "memory_update_completed", name: "likes", version: 2 } as const;
  const log: Entry[] = [
    started,
    begun("c1"),
    begun("c2"),
    begun("c3"),
    { ...over, call: "c1", added_lines: 1, removed_lines: 0 },
    { ...over, call: "c2", deleted: true },
  ];
  const memory = (timeline: Timeline, call: string) => nodeOf(timeline.nodes, `memory ${call}`, "memory");
  const going = read(logOf(log));
  expect(runOf(going).children).toEqual(["memory c1", "memory c2", "memory c3"]);
  expect(memory(going, "c1")).toEqual({
    kind: "memory",
    name: "likes",
    state: "done",
    deleted: false,
    lines: { added: 1, removed: 0 },
  });
  expect(memory(going, "c2")).toMatchObject({ state: "done", deleted: true, lines: null });
  expect(memory(going, "c3")).toMatchObject({ state: "running" });
  const failed: Entry = { type: "memory_update_completed", call: "c3", name: "likes", error: "No." };
  expect(memory(read(logOf([...log, failed, completed])), "c3")).toMatchObject({ state: "failed" });
});

test("a log of before has the end of a memory update alone, under another name", () => {
  const before = { type: "memory_changed", call: "c1", name: "likes", version: 2 } as unknown as EventBody;
  const timeline = read(logOf([started, before, completed]));
  expect(nodeOf(timeline.nodes, "memory c1", "memory")).toMatchObject({ name: "likes", state: "done" });
});

test("what hooks did is a step", () => {
  const hook = { hook: "policy", event: "before_tool", call: "c1", tool: "shell" } as const;
  const answer = { hook: "editor", event: "after_answer", step: 2 } as const;
  const timeline = read(
    logOf([
      started,
      { type: "hook_started", id: "h1", ...hook },
      { type: "hook_finished", id: "h1", ...hook, decision: "deny", reason: "no", duration_ms: 5 },
      { type: "hook_started", id: "h2", ...answer },
      { type: "hook_finished", id: "h2", ...answer, decision: "allow", change: "Yes.", duration_ms: 5 },
      { type: "hook_started", id: "h3", ...answer },
      { type: "hook_finished", id: "h3", ...answer, decision: "allow", error: "HTTP 503", duration_ms: 5 },
      { type: "hook_started", id: "h4", ...answer },
      completed,
    ]),
  );
  expect(runOf(timeline).children).toEqual(["hook h1", "hook h2", "hook h3", "hook h4"]);
  const states = ["h1", "h2", "h3", "h4"].map((id) => {
    const node = nodeOf(timeline.nodes, `hook ${id}`, "hook");
    return [node?.state, node?.tool, node?.reason];
  });
  expect(states).toEqual([
    ["denied", "shell", "no"],
    ["changed", null, null],
    ["failed", null, "HTTP 503"],
    ["running", null, null],
  ]);
});

const delegated: Entry[] = [
  started,
  requested("c1", "task"),
  requested("c2", "task"),
  running("c1", { description: "read" }, "task"),
  running("c2", { description: "count" }, "task"),
  [["a1"], { type: "agent_started", name: "Reader", call: "c1", task: "read" }],
  [["a2"], { type: "agent_started", name: "Counter", call: "c2", task: "count" }],
  [["a1"], requested("c3")],
  [["a2"], requested("c4", "task")],
  [["a2"], running("c4", {}, "task")],
  [["a2", "a2.1"], { type: "agent_started", name: "Helper", call: "c4", task: "help" }],
  [["a2", "a2.1"], requested("c5")],
  [["a2", "a2.1"], finished("c5", "no such file", true)],
];

describe("tools", () => {
  test("parallel calls keep apart, in the order they were asked for", () => {
    const timeline = read(
      logOf([
        started,
        requested("c1"),
        requested("c2"),
        { type: "tool_arguments_delta", call: "c2", delta: '{"path":' },
        { type: "tool_arguments_delta", call: "c1", delta: "{}" },
        { type: "tool_arguments_delta", call: "c2", delta: '"/a"}' },
        running("c1"),
        running("c2", { path: "/a" }),
        finished("c2", "second"),
      ]),
    );
    expect(runOf(timeline).children).toEqual(["tool c1", "tool c2"]);
    expect(toolOf(timeline, "c1")).toMatchObject({ state: "running", argumentsText: "{}", result: null });
    expect(toolOf(timeline, "c2")).toMatchObject({ state: "done", result: "second", durationMs: 7 });
  });

  test("what a program prints is shown until there is a result", () => {
    const printing: EventBody[] = [
      started,
      requested("c1"),
      running("c1", { command: "make" }),
      { type: "tool_output", call: "c1", text: "first\n" },
      { type: "tool_output", call: "c1", text: "second\n\n" },
    ];
    const node = toolOf(read(logOf(printing)), "c1");
    expect(node).toMatchObject({ state: "running", output: "first\nsecond\n\n", progress: "second" });
    const whole: EventBody = { ...finished("c1"), file: "/results/shell-1.txt" };
    const done = toolOf(read(logOf([...printing, whole])), "c1");
    expect(done).toMatchObject({ output: "", progress: null, file: "/results/shell-1.txt" });
  });

  test("arguments grow while they are written", () => {
    const timeline = read(
      logOf([started, requested("c1"), { type: "tool_arguments_delta", call: "c1", delta: '{"pa' }]),
    );
    expect(toolOf(timeline, "c1")).toMatchObject({ state: "writing", argumentsText: '{"pa' });
  });

  test("a cut result says so, wherever the server put the mark", () => {
    const onEvent = { ...logOf([finished("c1", "begin")])[0], preview: true } as RunEvent;
    const mark = { preview: true };
    const cut: EventBody = Object.assign(finished("c2", "begin"), mark);
    const timeline = read([onEvent, { run: "run_1", seq: 2, at: 0, body: cut }]);
    expect(toolOf(timeline, "c1")?.preview).toBe(true);
    expect(toolOf(timeline, "c2")?.preview).toBe(true);
  });

  test("one delta replaces one node", () => {
    const timeline = read(logOf([...delegated, { type: "text_started", item: "t1" }]));
    const before = new Map(timeline.nodes);
    const body: EventBody = { type: "text_delta", item: "t1", delta: "x" };
    reduce(timeline, { run: "run_1", seq: timeline.seq + 1, at: 0, body });
    const changed = [...timeline.nodes].filter(([id, node]) => before.get(id) !== node).map(([id]) => id);
    expect(changed).toEqual(["text t1"]);
  });
});

describe("agents", () => {
  test("nest under the calls that started them and count what happens below", () => {
    const timeline = read(logOf(delegated));
    expect(toolOf(timeline, "c2")?.agents).toEqual(["agent a2"]);
    expect(toolOf(timeline, "c4")?.agents).toEqual(["agent a2.1"]);
    expect(agentOf(timeline, "a2")).toMatchObject({ children: ["tool c4"], tools: 2, failed: 1, depth: 1 });
    expect(agentOf(timeline, "a2.1")).toMatchObject({ children: ["tool c5"], tools: 1, failed: 1, depth: 2 });
    expect(agentOf(timeline, "a1")).toMatchObject({ tools: 1, failed: 0 });
    expect(runOf(timeline)).toMatchObject({ tools: 5, failed: 1, agents: 3, agentsRunning: 3 });
  });

  test("an approval inside an agent waits at the run, and the answer lets the tool go on", () => {
    const asked: Entry[] = [
      ...delegated,
      [["a1"], { type: "approval_asked", approval: "p1", call: "c3", name: "ls", arguments: { path: "/" } }],
    ];
    const timeline = read(logOf(asked));
    expect(runOf(timeline).waiting).toEqual(["approval p1"]);
    expect(agentOf(timeline, "a1")?.waiting).toBe(1);
    expect(toolOf(timeline, "c3")?.state).toBe("waiting");

    const after = read(
      logOf([
        ...asked,
        [["a1"], { type: "approval_answered", approval: "p1", decision: "allow", edited: false }],
      ]),
    );
    expect(runOf(after).waiting).toEqual([]);
    expect(agentOf(after, "a1")?.waiting).toBe(0);
    expect(toolOf(after, "c3")?.state).toBe("running");
  });
});

describe("texts", () => {
  const live: Entry[] = [
    started,
    { type: "reasoning_started", item: "r1" },
    { type: "reasoning_delta", item: "r1", delta: "hm" },
    { type: "reasoning_finished", item: "r1", text: "hm", duration_ms: 9 },
    { type: "text_started", item: "t1" },
    { type: "text_delta", item: "t1", delta: "First " },
    { type: "text_delta", item: "t1", delta: "I look." },
    { type: "text_finished", item: "t1", text: "First I look.", answer: false },
    requested("c1"),
    { type: "tool_arguments_delta", call: "c1", delta: "{}" },
    running("c1"),
    finished("c1"),
    { type: "text_started", item: "t2" },
    { type: "text_delta", item: "t2", delta: "Done." },
    { type: "text_finished", item: "t2", text: "Done.", answer: true },
    completed,
  ];

  test("a replay without deltas equals what was seen live", () => {
    const events = logOf(live);
    const replay = events.filter((event) => !event.body.type.endsWith("_delta"));
    expect([...read(replay).nodes]).toEqual([...read(events).nodes]);
  });

  test("reading a part again changes nothing", () => {
    const events = logOf(live);
    const twice = createTimeline();
    for (const event of [...events.slice(0, 9), ...events.slice(3, 9), ...events.slice(5)]) {
      reduce(twice, event);
    }
    expect([...twice.nodes]).toEqual([...read(events).nodes]);
  });

  test("a text is a possible answer until it turns out to be commentary", () => {
    const events = logOf(live);
    expect(runOf(read(events.slice(0, 6))).answers).toEqual(["text t1"]);
    expect(runOf(read(events.slice(0, 8))).answers).toEqual([]);
    expect(runOf(read(events)).answers).toEqual(["text t2"]);
  });
});

describe("the end", () => {
  test("a call of which nobody knows what it did is in doubt", () => {
    const timeline = read(
      logOf([
        { type: "run_started", model: "m" },
        { type: "tool_requested", call: "c1", name: "send" },
        { ...finished("c1", "Who knows?", true, 0, "send"), in_doubt: true },
      ]),
    );
    expect(toolOf(timeline, "c1")?.state).toBe("in_doubt");
    expect(runOf(timeline).failed).toBe(1);
  });

  test("a call whose agents a person has stopped has not failed", () => {
    const ended = { type: "agent_finished", outcome: "cancelled", result: "" } as const;
    const timeline = read(
      logOf([...delegated, [["a1"], ended], finished("c1", "The report is written now.", true, 0, "task")]),
    );
    expect(agentOf(timeline, "a1")?.outcome).toBe("cancelled");
    expect(toolOf(timeline, "c1")?.state).toBe("stopped");
    expect(runOf(timeline).failed).toBe(1);
  });

  test("a stop ends everything that turns, and a stopped call has not failed", () => {
    const timeline = read(
      logOf([
        ...delegated,
        [["a1"], { type: "question_asked", question: "q1", call: "c3", text: "?", options: [] }],
        { type: "text_started", item: "t1" },
        { type: "text_finished", item: "t1", text: "so far", answer: true },
        [["a2"], { ...finished("c4", "stopped", true, 0, "task"), stopped: true }],
        { type: "run_finished", outcome: "cancelled", usage },
      ]),
    );
    const states = [...timeline.nodes.values()].flatMap((node) => (node.kind === "tool" ? [node.state] : []));
    expect(new Set(states)).toEqual(new Set(["stopped", "failed"]));
    expect(toolOf(timeline, "c4")?.state).toBe("stopped");
    expect(toolOf(timeline, "c5")?.state).toBe("failed");
    expect(runOf(timeline)).toMatchObject({ failed: 1, agentsRunning: 0, waiting: [], statuses: [] });
    expect(agentOf(timeline, "a2")?.failed).toBe(1);
    expect(agentOf(timeline, "a2.1")?.outcome).toBe("cancelled");
    expect(nodeOf(timeline.nodes, "question q1", "question")?.answered).toBe(true);
  });

  test("a form is a step with what was filled in", () => {
    const schema = { type: "object", properties: { city: { type: "string", title: "City" } } };
    const asked = {
      type: "question_asked" as const,
      question: "q1",
      call: "c1",
      text: "?",
      options: [],
      schema,
    };
    const answered = { type: "question_answered" as const, question: "q1", values: { city: "Rome" } };
    const timeline = read(logOf([{ type: "tool_requested", call: "c1", name: "ask_user" }, asked, answered]));
    expect(runOf(timeline)).toMatchObject({ children: ["tool c1", "question q1"], waiting: [] });
    expect(nodeOf(timeline.nodes, "question q1", "question")).toMatchObject({
      answered: true,
      declined: false,
      values: { city: "Rome" },
      fields: [{ name: "city", label: "City", input: "text" }],
    });
  });

  test("a call that failed at once just before a limit has failed", () => {
    const timeline = read(
      logOf([
        started,
        requested("c1"),
        finished("c1", "There is no tool x.", true, 0, "x"),
        { type: "run_finished", outcome: "limited", usage },
      ]),
    );
    expect(toolOf(timeline, "c1")?.state).toBe("failed");
    expect(runOf(timeline).failed).toBe(1);
  });

  test("the status is replaced and goes away", () => {
    const status = (description: string, done = false): EventBody => ({
      type: "status",
      description,
      done,
      hidden: done,
    });
    const events = logOf([started, status("one"), status("two"), status("two", true)]);
    expect(runOf(read(events.slice(0, 3))).statuses).toEqual([
      { agent: null, words: { message: "two" }, at: 1002 },
    ]);
    expect(runOf(read(events)).statuses).toEqual([]);
  });

  test("a status stays with its agent", () => {
    const status = (description: string, hidden = false): EventBody => ({
      type: "status",
      description,
      done: hidden,
      hidden,
    });
    const agent = (id: string, call: string): Entry => [
      [id],
      { type: "agent_started", name: id, call, task: "" },
    ];
    const events = logOf([
      started,
      status("main"),
      running("c1", {}, "task"),
      running("c2", {}, "task"),
      agent("a1", "c1"),
      agent("a2", "c2"),
      [["a1"], status("one")],
      [["a2"], status("two")],
      [["a2"], status("two", true)],
      [["a1"], { type: "agent_finished", outcome: "failed", result: "" }],
    ]);
    const shown = (count: number) => runOf(read(events.slice(0, count))).statuses.at(-1);
    expect(shown(8)).toMatchObject({ agent: "agent a2", words: { message: "two" } });
    expect(shown(9)).toMatchObject({ agent: "agent a1", words: { message: "one" } });
    expect(shown(10)).toMatchObject({ agent: null, words: { message: "main" } });
  });

  test("failed attempts are kept until the next model call, and are no steps", () => {
    const failed: EventBody = { type: "notice", level: "warning", message: "Busy.", failed_try: true };
    const events = logOf([
      started,
      { type: "model_requested", model: "m", messages: 1 },
      failed,
      [["a1"], failed],
      failed,
      { type: "model_requested", model: "m", messages: 2 },
      completed,
    ]);
    const attempts = (count: number) => runOf(read(events.slice(0, count))).failedAttempts;
    expect(attempts(3)).toEqual([{ agent: null, why: { message: "Busy." } }]);
    expect(attempts(5).map(({ agent }) => agent)).toEqual(["agent a1", null]);
    expect(attempts(6).map(({ agent }) => agent)).toEqual(["agent a1"]);
    expect(attempts(7)).toEqual([]);
    expect(runOf(read(events)).children).toEqual([]);
  });

  test("that another model answers is a step, and so is a server that is away", () => {
    const notice = (code: string, failed_try: boolean): EventBody => ({
      ...{ type: "notice", level: "warning", message: "A sentence.", failed_try },
      sentence: { code, params: { name: "files" } },
    });
    const run = runOf(
      read(logOf([started, notice("mcp_server_away", false), notice("other_model", true), completed])),
    );
    expect(run.children).toEqual(["notice 2", "notice 3"]);
    expect(run.unreachable).toEqual(["files"]);
  });

  test("usage adds up while it goes and is the server's sum at the end", () => {
    const called: EventBody = { type: "model_called", model: "m", usage, cost_micro_usd: 3, duration_ms: 1 };
    expect(runOf(read(logOf([started, called, called])))).toMatchObject({
      usage: { input_tokens: 20, output_tokens: 10 },
      costMicroUsd: 6,
    });
    expect(runOf(read(logOf([started, called, called, completed]))).usage).toEqual(usage);
  });

  test("the size of the conversation is that of the main agent's last model call", () => {
    const called = (input_tokens: number, more = {}) => ({
      type: "model_called" as const,
      model: "m",
      usage: { input_tokens, output_tokens: 5 },
      duration_ms: 1,
      ...more,
    });
    const events = logOf([started, called(10), called(20), called(30), called(0, { broken_off: true })]);
    const [, , , third] = events;
    if (third) third.agent = ["a1"];
    expect(runOf(read(events)).contextTokens).toBe(25);
    expect(runOf(read(logOf([started]))).contextTokens).toBeNull();
  });
});

test("ten thousand events, measured", () => {
  const entries: Entry[] = [started];
  for (let call = 0; entries.length < 10_000; call += 1) {
    entries.push(requested(`c${call}`), running(`c${call}`), finished(`c${call}`));
    entries.push({ type: "text_started", item: `t${call}` });
    for (let word = 0; word < 6; word += 1)
      entries.push({ type: "text_delta", item: `t${call}`, delta: "word " });
    entries.push({ type: "text_finished", item: `t${call}`, text: "word ".repeat(6), answer: false });
  }
  const events = logOf(entries);
  const from = performance.now();
  const timeline = read(events);
  const tookMs = performance.now() - from;
  process.stdout.write(`reduced ${events.length} events in ${tookMs.toFixed(1)} ms\n`);
  expect(timeline.seq).toBe(events.length);
  expect(runOf(timeline).tools).toBe(runOf(timeline).children.length / 2);
});
