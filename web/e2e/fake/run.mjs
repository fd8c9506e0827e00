/** A run of the fake server: an in-memory log, its readers, and the methods with which scripts write it. */
import { EventEmitter } from "node:events";

export class Stopped extends Error {}

export class FakeRun extends EventEmitter {
  log = [];
  state = "running";
  #counters = {};
  #answers = new Map();
  stopped = false;

  constructor({ id, chat, message, model, pace }) {
    super();
    this.setMaxListeners(0);
    Object.assign(this, { id, chat, message, model, pace, started_at: Date.now() });
    this.push({ type: "run_started", chat, message, model });
  }

  push(body, agent = []) {
    const event = { run: this.id, seq: this.log.length + 1, at: Date.now() };
    if (agent.length > 0) event.agent = agent;
    event.body = body;
    this.log.push(event);
    this.emit("event", event);
  }

  /** Its pending items as shown in the inbox. */
  waiting() {
    const answered = (asked) =>
      this.log.some(({ body }) =>
        asked.type === "approval_asked"
          ? body.type === "approval_answered" && body.approval === asked.approval
          : body.type === "question_answered" && body.question === asked.question,
      );
    const asks = this.log.filter(({ body }) => ["approval_asked", "question_asked"].includes(body.type));
    return asks
      .filter(({ body }) => !answered(body))
      .map((event) => ({ run: this.id, chat: this.chat, title: "", event }));
  }

  name(prefix) {
    this.#counters[prefix] = (this.#counters[prefix] ?? 0) + 1;
    return `${prefix}${this.#counters[prefix]}`;
  }

  /** Waits, so that the step is visible; throws if the run was stopped. */
  async pause(ms) {
    if (!this.stopped) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, ms * this.pace);
        this.once("stop", () => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    if (this.stopped) throw new Stopped();
  }

  status(description) {
    this.push({ type: "status", description, done: false, hidden: false });
  }

  async text(text, { answer = false, agent = [], ms = 12 } = {}) {
    const item = this.name("t");
    this.push({ type: "text_started", item }, agent);
    let written = "";
    try {
      for (const delta of text.match(/\S+\s*|\s+/g) ?? []) {
        await this.pause(ms);
        written += delta;
        this.push({ type: "text_delta", item, delta }, agent);
      }
    } catch (error) {
      this.push({ type: "text_finished", item, text: written, answer: true }, agent);
      throw error;
    }
    this.push({ type: "text_finished", item, text, answer }, agent);
  }

  async reason(text, agent = []) {
    const item = this.name("r");
    const from = Date.now();
    this.push({ type: "reasoning_started", item }, agent);
    for (const delta of text.match(/\S+\s*/g) ?? []) {
      await this.pause(15);
      this.push({ type: "reasoning_delta", item, delta }, agent);
    }
    this.push({ type: "reasoning_finished", item, text, duration_ms: Date.now() - from }, agent);
  }

  /** Streams a call's arguments; returns its ID. */
  async request(name, args, agent = []) {
    const call = this.name("c");
    this.push({ type: "tool_requested", call, name }, agent);
    for (const delta of JSON.stringify(args).match(/.{1,12}/gs) ?? []) {
      await this.pause(14);
      this.push({ type: "tool_arguments_delta", call, delta }, agent);
    }
    return call;
  }

  async tool(name, args, result, { agent = [], ms = 250, error = false, before } = {}) {
    const call = await this.request(name, args, agent);
    return this.execute(call, name, args, result, { agent, ms, error, before });
  }

  async execute(call, name, args, result, { agent = [], ms = 250, error = false, before } = {}) {
    const from = Date.now();
    this.push({ type: "tool_started", call, name, arguments: args, repeatable: true }, agent);
    let duration_ms = 0;
    let text = "The run was stopped.";
    try {
      await before?.(call);
      await this.pause(ms);
      duration_ms = Date.now() - from;
      text = result;
    } catch (cause) {
      this.finishTool(call, name, args, text, true, 0, agent);
      throw cause;
    }
    this.finishTool(call, name, args, text, error, duration_ms, agent);
  }

  finishTool(call, name, args, result, error, duration_ms, agent) {
    this.push(
      { type: "tool_finished", call, name, arguments: args, result, error, truncated: false, duration_ms },
      agent,
    );
  }

  /** Starts a sub-agent under the call and lets `work` act as it. */
  async agent(call, name, task, number, work, parent = []) {
    const id = parent.length > 0 ? `${parent.at(-1)}.${number}` : `a${number}`;
    const path = [...parent, id];
    this.push({ type: "agent_started", name, call, task }, path);
    try {
      const result = await work(path);
      this.push({ type: "agent_finished", outcome: "completed", result }, path);
      return result;
    } catch (error) {
      const outcome = error instanceof Stopped ? "cancelled" : "failed";
      this.push({ type: "agent_finished", outcome, result: error.message }, path);
      throw error;
    }
  }

  async #wait(id) {
    this.state = "waiting";
    this.emit("state");
    const answer = await new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.once("stop", () => resolve(null));
    });
    this.#answers.delete(id);
    this.state = "running";
    this.emit("state");
    return answer;
  }

  isWaitingFor(id) {
    return this.#answers.has(id);
  }

  answer(id, value) {
    this.#answers.get(id)?.(value);
  }

  async approval(call, name, args, agent = [], more = {}) {
    const approval = this.name("p");
    this.push({ type: "approval_asked", approval, call, name, arguments: args, ...more }, agent);
    const answer = await this.#wait(approval);
    const body = { type: "approval_answered", approval, decision: answer?.decision ?? "withdrawn" };
    if (answer?.reason) body.reason = answer.reason;
    this.push({ ...body, edited: answer?.arguments !== undefined }, agent);
    if (answer === null) throw new Stopped();
    return answer;
  }

  async question(call, text, options, agent = []) {
    const question = this.name("q");
    this.push({ type: "question_asked", question, call, text, options }, agent);
    const answer = await this.#wait(question);
    this.push({ type: "question_answered", question, ...(answer === null ? {} : { answer }) }, agent);
    if (answer === null) throw new Stopped();
    return answer;
  }

  modelCalled(agent = []) {
    const usage = { input_tokens: 1840, output_tokens: 212, cached_tokens: 1200 };
    this.push(
      {
        type: "model_called",
        model: this.model,
        usage,
        cost_micro_usd: 1240,
        duration_ms: 830,
        first_token_ms: 140,
      },
      agent,
    );
  }

  stop() {
    this.stopped = true;
    this.emit("stop");
  }

  finish(outcome, problem) {
    const calls = this.log.filter((event) => event.body.type === "model_called");
    const usage = {
      input_tokens: 1840 * calls.length,
      output_tokens: 212 * calls.length,
      cached_tokens: 1200 * calls.length,
    };
    const body = { type: "run_finished", outcome, usage, cost_micro_usd: 1240 * calls.length };
    this.state = "finished";
    this.push(problem ? { ...body, problem } : body);
    this.emit("state");
  }

  summary() {
    const bodies = this.log.map((event) => event.body);
    const end = bodies.at(-1);
    if (end.type !== "run_finished") return null;
    const main = this.log.filter((event) => !event.agent).map((event) => event.body);
    return {
      answer: main
        .filter((body) => body.type === "text_finished" && body.answer)
        .map((body) => body.text)
        .join("\n\n"),
      tools: bodies.filter((body) => body.type === "tool_requested").length,
      failed_tools: bodies.filter((body) => body.type === "tool_finished" && body.error).length,
      agents: bodies.filter((body) => body.type === "agent_started").length,
      duration_ms: this.log.at(-1).at - this.log[0].at,
      outcome: end.outcome,
      problem: end.problem ?? null,
      usage: end.usage,
      cost_micro_usd: end.cost_micro_usd ?? null,
    };
  }
}
