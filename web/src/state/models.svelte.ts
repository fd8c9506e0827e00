/** The models and agents one may talk to, and which of them is chosen. */
import { untrack } from "svelte";
import { listModels } from "../api/calls.ts";
import { ApiError } from "../api/http.ts";
import type { AgentChoice, Model, Parameter } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { preferences, prefer } from "./preferences.svelte.ts";

/** What a message can be sent to. */
export type Choice = Model | (AgentChoice & { tour?: undefined });

/** The parameters that a model does not take. */
export const unsupportedBy = (model: Model | undefined): Parameter[] =>
  model?.unsupported_parameters ?? model?.listed.abilities.unsupported_parameters ?? [];

/** The levels of reasoning that its server lists for a model. */
export const effortsListedFor = (model: Model | undefined): string[] =>
  model?.listed.abilities.reasoning_efforts ?? [];

/** Ids of agents begin with this. */
const agentPrefix = "glasshouse/";

export class Models {
  list = $state.raw<Model[]>([]);
  agents = $state.raw<AgentChoice[]>([]);
  defaultId = $state.raw<string | null>(null);
  loaded = $state(false);
  /** So many answers of the server are waited for. */
  #asked = $state(0);

  /** Whether there may be more to choose from in a moment. */
  get isLoading(): boolean {
    return this.#asked > 0;
  }

  /** Whether there is any model but the tour. */
  readonly hasReal = $derived(this.list.some((model) => !model.tour));

  /** What answers where nobody has chosen: the server's default, else the first. */
  readonly #usual = $derived(this.find(this.defaultId) ?? this.list[0] ?? null);

  /**
   * The id of the reader's model while it is not there: its server is away, or it is not theirs to use any more. Nothing
   * else takes its place. Where nobody has chosen one, the tour takes the place of no model that was in use.
   */
  readonly missing = $derived.by<string | null>(() => {
    if (!this.loaded) return null;
    const { model, lastModel } = preferences;
    if (model !== null) return this.find(model) ? null : model;
    const isReplaced = lastModel !== null && (this.#usual === null || this.#usual.tour === true);
    return isReplaced ? lastModel : null;
  });

  /** The reader's choice, else what usually answers; null where neither is there. */
  readonly chosen = $derived<Choice | null>(
    this.missing === null ? (this.find(preferences.model) ?? this.#usual) : null,
  );

  find(id: string | null | undefined): Choice | undefined {
    return this.agents.find((agent) => agent.id === id) ?? this.list.find((model) => model.id === id);
  }

  /** The model that answers where this one, or this agent, is asked. */
  modelOf(choice: Choice | null): Model | undefined {
    if (!choice) return undefined;
    if (choice.tour !== undefined) return choice;
    return this.list.find((model) => model.id === (choice.model ?? this.defaultId));
  }

  /** Its name; its id where others have the same name. */
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

  async load(): Promise<void> {
    // Whoever has it loaded does not depend on how many others have.
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

  /** Throws where the reader's model is missing: without a model the server would choose another one. */
  require(id: string | undefined): void {
    if (id === undefined && this.missing !== null)
      throw new ApiError(0, "model_missing", this.missingSentence(this.missing));
  }

  missingSentence(id: string): string {
    return t("composer.modelMissing", { name: this.nameOf(id) });
  }

  /** Remembers which real model was asked. */
  noteUsed(id: string | undefined): void {
    const used = this.find(id);
    if (used && !used.tour && used.id !== preferences.lastModel) prefer({ lastModel: used.id });
  }

  replace(model: Model): void {
    this.list = this.list.map((other) => (other.id === model.id ? model : other));
  }
}

export const models = new Models();
