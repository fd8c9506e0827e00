/** State of the open chat: its message tree, the current branch, and its runs. */
import {
  askOthers,
  cancelRun,
  changeChat,
  createChat,
  finishRun,
  getChat,
  mergeAnswers,
  regenerate as askAgain,
  removeInput,
  sendInput,
  sendMessage,
  setChatExpiry,
} from "../api/calls.ts";
import { SvelteMap } from "svelte/reactivity";
import { ApiError } from "../api/http.ts";
import type { Activity } from "../api/activity.ts";
import type { InputMode } from "../api/events.ts";
import type {
  Chat,
  ChatMessage,
  ChatOwner,
  ModelParameters,
  Part,
  QueuedInputs,
  RunSummary,
} from "../api/types.ts";
import { chats } from "./chats.svelte.ts";
import { models } from "./models.svelte.ts";
import type { RunNode } from "./nodes.ts";
import { isAnySet, unset } from "./parameters.ts";
import { research } from "./research.svelte.ts";
import { openSeconds, stayIn, type Stay } from "./temporary.ts";
import { RunView } from "./run.svelte.ts";
import { nodeOf } from "./timeline.ts";
import { attempt } from "./toasts.svelte.ts";
import { workspaces } from "./workspaces.svelte.ts";
import { besideOf, newestLeaf, pathTo, siblingGroups } from "./tree.ts";

/** When to look for the turn that begins with unread messages. */
const nextTurnPausesMs = [250, 750, 2000, 5000, 15_000, 30_000];

const newInputId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );

export type LoadState = "empty" | "loading" | "ready" | "missing" | "failed";

class OpenChat {
  id = $state.raw<string | null>(null);
  state = $state.raw<LoadState>("empty");
  problem = $state.raw<unknown>(null);
  messages = $state.raw<ChatMessage[]>([]);
  current = $state.raw<string | null>(null);
  /** Messages to runs that have ended, which begin the next turn. */
  queued = $state.raw<QueuedInputs[]>([]);
  /** Name of the server directory with its files; `null` if the files are virtual. */
  workspace = $state.raw<string | null>(null);
  /** Model parameters of the chat; of an empty chat, those it will be created with. */
  parameters = $state.raw<ModelParameters>(unset);
  /** Whether it is deleted when it is left; of an empty chat, whether it will be. */
  isTemporary = $state(false);
  /** The owner, if it is another user's chat. */
  owner = $state.raw<ChatOwner | null>(null);
  /** Whether the user may write in it. */
  mayReply = $state.raw(true);
  /** Whether a message is being sent and the server has not responded yet. */
  sending = $state(false);

  readonly path = $derived(pathTo(this.messages, this.current));
  readonly siblings = $derived(siblingGroups(this.messages));
  /** The active runs of the last message and its alternatives, its own first. */
  readonly running = $derived.by(() => {
    const last = this.path.at(-1);
    if (!last) return [];
    const beside = besideOf(this.messages, last).filter((message) => message !== last);
    return [last, ...beside].flatMap((message) => {
      if (!message.run || message.summary) return [];
      const view = this.viewOf(message.run);
      return view.finished || view.refusal ? [] : [view];
    });
  });
  readonly active = $derived(this.running[0] ?? null);
  /** What people wrote and no agent has read yet, to the runs that have ended and those of the last message. */
  readonly unread = $derived([
    ...this.queued.flatMap(({ run, inputs, given_up }) =>
      inputs.map((input) => ({ run, input, state: given_up ? ("given_up" as const) : ("queued" as const) })),
    ),
    ...this.running.flatMap(({ id, run }) =>
      run.unread.map((input) => ({ run: id, input, state: "going" as const })),
    ),
  ]);
  /**
   * Whether the alternatives of a message are shown side by side, if the user has chosen; keyed by the first of them.
   */
  readonly sideBySide = new SvelteMap<string, boolean>();

  /** A comparison that was just started and is to be scrolled into view: its first answer, and the first new one. */
  comparisonStarted = $state.raw<{ first: string; answer: string } | null>(null);

  #views = new Map<string, RunView>();
  /** The ids of messages to a run that are being sent. */
  #inputIds = new Map<string, string>();
  /** In this chat, if it is temporary. */
  #stay: Stay | undefined;
  #abort: AbortController | undefined;
  /** Whether something other than messages has changed since they were loaded. */
  #hasChanged = false;

  constructor() {
    chats.listen((activity) => this.#noteActivity(activity));
  }

  get title(): string {
    return (this.id && chats.rowOf(this.id)?.title) || this.#title;
  }
  #title = $state("");

  viewOf(run: string): RunView {
    let view = this.#views.get(run);
    if (!view) {
      view = new RunView(run, (finished) => this.#finish(finished));
      this.#views.set(run, view);
    }
    return view;
  }

  /** Opens the chat `id`, or an empty one. */
  async open(id: string | null): Promise<void> {
    if (id === this.id && this.state !== "failed") return;
    this.#leave();
    this.id = id;
    this.#title = "";
    this.messages = [];
    this.current = null;
    this.queued = [];
    this.workspace = null;
    this.owner = null;
    this.mayReply = true;
    this.parameters = unset;
    this.isTemporary = false;
    this.problem = null;
    this.state = id === null ? "empty" : "loading";
    this.#hasChanged = false;
    if (id !== null) await this.reload();
  }

  async reload(): Promise<void> {
    const id = this.id;
    if (id === null) return;
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    try {
      const chat = await getChat(id, abort.signal);
      if (abort.signal.aborted || this.id !== id) return;
      this.#show(chat);
    } catch (error) {
      if (abort.signal.aborted || this.id !== id) return;
      this.problem = error;
      this.state = error instanceof ApiError && error.status === 404 ? "missing" : "failed";
    }
  }

  /** Takes over what others have changed. If that fails, what is shown stays. Returns whether it succeeded. */
  async refresh(): Promise<boolean> {
    const id = this.id;
    if (id === null) return false;
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    const chat = await getChat(id, abort.signal).catch(() => null);
    if (chat === null || abort.signal.aborted || this.id !== id || this.sending) return false;
    this.#show(chat);
    return true;
  }

  /** Sends a message after the last one and follows the run it starts. Returns the chat's ID. */
  async send(content: Part[], model: string | undefined, parent?: string | null): Promise<string> {
    if (this.owner) {
      // The owner's models answer, of which the last one is known.
      model = this.path.findLast((message) => message.model)?.model;
    } else {
      models.require(model);
      models.noteUsed(model);
    }
    this.sending = true;
    try {
      let id = this.id;
      if (id === null) {
        const chat = await createChat({
          ...(workspaces.chosen === null ? {} : { workspace: workspaces.chosen }),
          ...(isAnySet(this.parameters) ? { parameters: this.parameters } : {}),
          ...(this.isTemporary ? { expires_in_seconds: openSeconds } : {}),
        });
        workspaces.chosen = null;
        id = chat.id;
        this.workspace = chat.workspace ?? null;
        if (this.isTemporary) this.#stay = stayIn(id);
        else chats.put(chat);
        this.id = id;
        this.state = "ready";
      }
      const under = parent === undefined ? (this.path.at(-1)?.id ?? null) : parent;
      const answer = await sendMessage(id, {
        parent: under,
        content: plain(content),
        ...(model ? { model } : {}),
        ...(research.mode === "chat" ? {} : { mode: research.mode }),
        ...(research.mode === "research" || research.mode === "deep" ? { review_plan: true } : {}),
      });
      if (this.id === id) this.#add([answer.user, answer.assistant], answer.run);
      return id;
    } catch (error) {
      // The model or agent went away while the page was open.
      if (error instanceof ApiError && error.code === "model_not_found") {
        await attempt(() => models.load());
        models.require(undefined);
      }
      throw error;
    } finally {
      this.sending = false;
      this.#catchUp();
    }
  }

  /** Sets the chat's model parameters. */
  async setParameters(parameters: ModelParameters): Promise<void> {
    const id = this.id;
    if (id !== null) await changeChat(id, { parameters });
    if (this.id === id) this.parameters = parameters;
  }

  /** Makes a temporary chat an ordinary one. */
  async keep(): Promise<void> {
    const id = this.id;
    if (id === null) return;
    chats.put(await setChatExpiry(id, null));
    if (this.id !== id) return;
    this.isTemporary = false;
    this.#stay?.end();
    this.#stay = undefined;
  }

  async regenerate(message: ChatMessage, model: string | undefined): Promise<void> {
    const id = this.id;
    if (id === null) return;
    models.require(model);
    const answer = await askAgain(id, message.id, model);
    if (this.id === id) this.#add([answer.assistant], answer.run);
  }

  /** Requests alternatives to an answer: `samples` from each model. */
  async askAlternatives(message: ChatMessage, models: string[], samples: number): Promise<void> {
    const id = this.id;
    if (id === null) return;
    this.sending = true;
    try {
      const { answers } = await askOthers(id, message.id, models, samples);
      this.sideBySide.delete(message.beside ?? message.id);
      if (this.id !== id) return;
      for (const answer of answers) this.#add([answer.assistant], answer.run);
      const [added] = answers;
      if (added) {
        this.comparisonStarted = { first: message.beside ?? message.id, answer: added.assistant.id };
      }
      // The chat still continues from the same alternative.
      this.current = message.id;
    } finally {
      this.sending = false;
      this.#catchUp();
    }
  }

  /** Merges the alternatives of the answer into one more. */
  async merge(message: ChatMessage): Promise<void> {
    const id = this.id;
    if (id === null) return;
    this.sending = true;
    try {
      const answer = await mergeAnswers(id, message.id);
      this.sideBySide.delete(message.beside ?? message.id);
      if (this.id === id) this.#add([answer.assistant], answer.run);
    } finally {
      this.sending = false;
      this.#catchUp();
    }
  }

  /** Switches to the branch through `message`, down to its newest leaf. */
  async switchTo(message: ChatMessage): Promise<void> {
    const id = this.id;
    if (id === null) return;
    const before = this.current;
    this.current = newestLeaf(this.messages, message.id);
    this.#followShown();
    // A reader's choice is not saved for the owner.
    if (this.owner) return;
    try {
      await changeChat(id, { current: this.current });
    } catch (error) {
      if (this.id === id) this.current = before;
      throw error;
    }
  }

  /** Switches to the branch that contains the message. Returns whether it is in this chat. */
  async bring(id: string): Promise<boolean> {
    const message = this.messages.find((message) => message.id === id);
    if (!message) return false;
    if (!this.path.includes(message)) await this.switchTo(message);
    return true;
  }

  async stop(): Promise<void> {
    await Promise.all(this.running.map((view) => cancelRun(view.id)));
  }

  /** Waits until no run is active. Returns whether that came soon. */
  async ended(): Promise<boolean> {
    for (let tries = 0; tries < 50 && this.active !== null; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return this.active === null;
  }

  /** Sends a message to the active run: to its main agent, or to a sub-agent. */
  async steer(content: string, mode: InputMode, agent?: string): Promise<void> {
    const run = this.active;
    if (!run) return;
    const known = this.#inputIds.get(content);
    // Sent again after an error, it is the same message.
    const id = known ?? newInputId();
    this.#inputIds.set(content, id);
    await sendInput(run.id, { id, content, mode, ...(agent === undefined ? {} : { agent }) });
    this.#inputIds.delete(content);
  }

  /** Makes the active research run write its report. */
  async reportNow(): Promise<void> {
    if (this.active) await finishRun(this.active.id);
  }

  #show(chat: Chat): void {
    this.#title = chat.title;
    this.workspace = chat.workspace ?? null;
    this.owner = chat.owner ?? null;
    this.mayReply = chat.may_reply;
    this.parameters = chat.parameters;
    this.messages = chat.messages;
    this.current = chat.current ?? chat.messages.at(-1)?.id ?? null;
    this.queued = chat.queued;
    this.#noteExpiry(chat);
    this.state = "ready";
    this.#followShown();
    this.#catchUp();
  }

  #noteExpiry({ id, expires_at, owner }: Chat): void {
    this.isTemporary = expires_at !== undefined && owner === undefined;
    if (this.isTemporary) this.#stay ??= stayIn(id);
  }

  #add(messages: ChatMessage[], run: string): void {
    const last = messages.at(-1);
    if (!last) return;
    messages = messages.map((message) => (message === last ? { ...message, run } : message));
    this.messages = [...this.messages, ...messages];
    this.current = last.id;
    this.viewOf(run).follow();
    const row = this.id === null ? undefined : chats.rowOf(this.id);
    if (row) chats.put({ ...row, state: "running", updated_at: Date.now() });
  }

  #followShown(): void {
    for (const message of this.path.flatMap((shown) => besideOf(this.messages, shown).concat(shown))) {
      if (message.run && !message.summary) this.viewOf(message.run).follow();
    }
  }

  #finish(view: RunView): void {
    const run = view.run;
    const isOpen = (message: ChatMessage) => message.run === view.id && !message.summary;
    // Otherwise the chat was loaded after the run had ended, and what was loaded is newer.
    if (run.outcome === null || !this.messages.some(isOpen)) return;
    const answer = answerOf(view);
    const summary: RunSummary = {
      answer,
      tools: run.tools,
      failed_tools: run.failed,
      agents: run.agents,
      duration_ms: durationOf(run),
      outcome: run.outcome,
      problem: run.problem,
      usage: run.usage,
      cost_micro_usd: run.costMicroUsd,
    };
    this.messages = this.messages.map((message) =>
      isOpen(message) ? { ...message, summary, content: [{ type: "text", text: answer }] } : message,
    );
    if (run.unread.length === 0) return;
    this.queued = [...this.queued, { run: view.id, inputs: [...run.unread], given_up: false }];
    void this.#awaitNextTurn(view.id);
  }

  /** Withdraws a message that no agent has read. Returns whether it was in time. */
  async withdraw(run: string, input: string): Promise<boolean> {
    try {
      await removeInput(run, input);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error;
      if (this.queued.some((turn) => turn.run === run)) await this.reload();
      return false;
    }
    this.queued = this.queued.map((turn) =>
      turn.run === run ? { ...turn, inputs: turn.inputs.filter(({ input_id }) => input_id !== input) } : turn,
    );
    return true;
  }

  /** Loads the turn that begins with what no agent has read. */
  async #awaitNextTurn(run: string): Promise<void> {
    for (const pauseMs of nextTurnPausesMs) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (this.path.at(-1)?.run !== run || this.sending) return;
      await this.reload();
    }
  }

  #noteActivity(activity: Activity): void {
    if (activity.state === "read" || activity.chat !== this.id) return;
    const isBusy = this.sending || this.state !== "ready";
    if (activity.state === "changed") this.#hasChanged = true;
    if (isBusy) return;
    if (activity.title) this.#title = activity.title;
    if (activity.state === "changed") {
      this.#catchUp();
      return;
    }
    // A message was sent from another tab.
    const known = this.messages.some((message) => message.run === activity.run);
    if (!known) void this.reload();
  }

  /** Handles changes that arrived while the chat was loading or a message was being sent. */
  #catchUp(): void {
    if (!this.#hasChanged) return;
    this.#hasChanged = false;
    void this.#fetchFollowUps();
  }

  /** Loads the follow-up suggestions, which are generated after the answer. */
  async #fetchFollowUps(): Promise<void> {
    const id = this.id;
    if (id === null) return;
    try {
      const { messages } = await getChat(id);
      const found = new Map(messages.map((message) => [message.id, message.follow_ups]));
      if (this.id !== id) return;
      this.messages = this.messages.map((message) => {
        const texts = found.get(message.id);
        return texts ? { ...message, follow_ups: texts } : message;
      });
    } catch {
      // Suggestions are optional; the next load of the chat brings them.
    }
  }

  #leave(): void {
    this.#abort?.abort();
    this.#stay?.leave();
    this.#stay = undefined;
    for (const view of this.#views.values()) view.stopFollowing();
    this.sideBySide.clear();
    this.comparisonStarted = null;
    this.#views.clear();
  }
}

/** A single text is sent as a plain string, as other clients do. */
function plain(content: Part[]): string | Part[] {
  const [first] = content;
  return content.length === 1 && first?.type === "text" ? first.text : content;
}

function answerOf(view: RunView): string {
  return view.run.answers
    .map((id) => nodeOf(view.nodes, id, "text")?.text ?? "")
    .filter((text) => text !== "")
    .join("\n\n");
}

export function durationOf(run: RunNode): number {
  return run.endedAt === null ? 0 : run.endedAt - run.startedAt;
}

export const openChat = new OpenChat();

/** A separate instance, for components that are rendered alone. */
export const createOpenChat = () => new OpenChat();
