/** The models one may talk to, and which of them is chosen. */
import { listModels } from "../api/calls.ts";
import type { Model } from "../api/types.ts";
import { preferences, prefer } from "./preferences.svelte.ts";

class Models {
  list = $state.raw<Model[]>([]);
  defaultId = $state.raw<string | null>(null);
  loaded = $state(false);

  /** Whether there is any model but the tour. */
  readonly hasReal = $derived(this.list.some((model) => !model.tour));

  /** The reader's choice while it exists, else the server's default, else the first. */
  readonly chosen = $derived(
    this.find(preferences.model) ?? this.find(this.defaultId) ?? this.list[0] ?? null,
  );

  find(id: string | null | undefined): Model | undefined {
    return this.list.find((model) => model.id === id);
  }

  nameOf(id: string | null | undefined): string {
    return this.find(id)?.name ?? id ?? "";
  }

  choose(id: string): void {
    prefer({ model: id });
  }

  async load(): Promise<void> {
    const answer = await listModels();
    this.list = answer.models;
    this.defaultId = answer.default_model;
    this.loaded = true;
  }

  replace(model: Model): void {
    this.list = this.list.map((other) => (other.id === model.id ? model : other));
  }
}

export const models = new Models();
