/** The models and agents one may talk to, and which of them is chosen. */
import { untrack } from "svelte";
import { listModels } from "../api/calls.ts";
import type { AgentChoice, Model } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import { preferences, prefer } from "./preferences.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

/** What a message can be sent to. */
export type Choice = Model | (AgentChoice & { tour?: undefined });

/** Ids of agents begin with this. */
const agentPrefix = "glasshouse/";

class Models {
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

  /** The reader's choice while it exists, else the server's default, else the first. */
  readonly chosen = $derived<Choice | null>(
    this.find(preferences.model) ?? this.find(this.defaultId) ?? this.list[0] ?? null,
  );

  find(id: string | null | undefined): Choice | undefined {
    return this.agents.find((agent) => agent.id === id) ?? this.list.find((model) => model.id === id);
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
    this.#sayWhoIsGone();
  }

  /** An agent that was deleted is not silently another one. */
  #sayWhoIsGone(): void {
    const id = preferences.model;
    if (!id?.startsWith(agentPrefix) || this.find(id)) return;
    prefer({ model: null });
    const instead = this.chosen?.name ?? t("composer.noModel");
    toasts.add(t("composer.agentGone", { name: id.slice(agentPrefix.length), instead }));
  }

  replace(model: Model): void {
    this.list = this.list.map((other) => (other.id === model.id ? model : other));
  }
}

export const models = new Models();
