/** Available models and agents, and the current selection. */
import { untrack } from "svelte";
import { listModels } from "../api/calls.ts";
import { ApiError } from "../api/http.ts";
import type { AgentChoice, Model, Parameter } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { preferences, prefer } from "./preferences.svelte.ts";

/** A model or agent that a message can be sent to. */
export type Choice = Model | (AgentChoice & { tour?: undefined });

/** Parameters that the model does not support. */
export const unsupportedBy = (model: Model | undefined): Parameter[] =>
  model?.unsupported_parameters ?? model?.listed.abilities.unsupported_parameters ?? [];

/** Reasoning effort levels that the model's server lists. */
export const effortsListedFor = (model: Model | undefined): string[] =>
  model?.listed.abilities.reasoning_efforts ?? [];

/** Prefix of agent IDs. */
const agentPrefix = "glasshouse/";

/** ID of a defined agent in requests and choices. */
export const agentId = (name: string) => agentPrefix + name;

export class Models {
  list = $state.raw<Model[]>([]);
  agents = $state.raw<AgentChoice[]>([]);
  defaultId = $state.raw<string | null>(null);
  loaded = $state(false);
  /** Number of pending requests. */
  #asked = $state(0);

  /** Whether more choices may be loaded in a moment. */
  get isLoading(): boolean {
    return this.#asked > 0;
  }

  /** The models that answer in chats: model servers list those for embeddings too. */
  readonly answering = $derived(this.list.filter(({ listed }) => listed.abilities.chat !== false));

  readonly tour = $derived(this.list.find((model) => model.tour));

  /** Whether there is any model besides the tour. */
  readonly hasReal = $derived(this.list.some((model) => !model.tour));

  /** The default choice: the server's default, else the first. */
  readonly #usual = $derived(this.find(this.defaultId) ?? this.answering[0] ?? null);

  /**
   * ID of the user's model while it is unavailable: it was removed, or the user has lost access. It is never replaced
   * automatically. Without a choice, the model of the last message counts: the default may be another one by now.
   */
  readonly missing = $derived.by<string | null>(() => {
    const id = preferences.model ?? preferences.lastModel;
    return !this.loaded || id === null || this.find(id) ? null : id;
  });

  /** The model offered in place of the missing one; `null` if there is only the tour. */
  readonly offered = $derived(this.missing === null || this.#usual?.tour === true ? null : this.#usual);

  /** The user's choice, else the default; `null` if neither is available. */
  readonly chosen = $derived<Choice | null>(
    this.missing === null ? (this.find(preferences.model) ?? this.#usual) : null,
  );

  find(id: string | null | undefined): Choice | undefined {
    return this.agents.find((agent) => agent.id === id) ?? this.list.find((model) => model.id === id);
  }

  /** The model behind a choice, which may be an agent. */
  modelOf(choice: Choice | null): Model | undefined {
    if (!choice) return undefined;
    if (choice.tour !== undefined) return choice;
    return this.list.find((model) => model.id === (choice.model ?? this.defaultId));
  }

  /** Its name, or its ID if the name is not unique. */
  nameOf(id: string | null | undefined): string {
    const found = this.find(id);
    if (!found) return id?.replace(agentPrefix, "") ?? "";
    return this.hasTwin(found) ? found.id : found.name;
  }

  hasTwin(choice: Choice): boolean {
    return [...this.agents, ...this.list].some(
      (other) => other.id !== choice.id && other.name === choice.name,
    );
  }

  choose(id: string): void {
    prefer({ model: id });
  }

  /** Replaces the missing model with the offered one. */
  acceptOffered(): void {
    const { offered } = this;
    if (offered === null) return;
    // Users without a choice of their own keep following the default.
    if (preferences.model === null) prefer({ lastModel: offered.id });
    else this.choose(offered.id);
  }

  async load(): Promise<void> {
    // Untracked, so that an effect that loads does not depend on the number of requests.
    untrack(() => (this.#asked += 1));
    try {
      const answer = await listModels();
      this.list = answer.models;
      this.agents = answer.agents;
      this.defaultId = answer.default_model;
      this.loaded = true;
    } finally {
      this.#asked -= 1;
    }
  }

  /** Throws if the user's model is missing: without a model the server would choose another one. */
  require(id: string | undefined): void {
    if (id === undefined && this.missing !== null)
      throw new ApiError(0, "model_missing", this.missingSentence(this.missing));
  }

  missingSentence(id: string): string {
    return t("composer.modelMissing", { name: this.nameOf(id) });
  }

  /** Remembers the last real model used. */
  noteUsed(id: string | undefined): void {
    const used = this.find(id);
    if (used && !used.tour && used.id !== preferences.lastModel) prefer({ lastModel: used.id });
  }

  replace(model: Model): void {
    this.list = this.list.map((other) => (other.id === model.id ? model : other));
  }
}

export const models = new Models();
