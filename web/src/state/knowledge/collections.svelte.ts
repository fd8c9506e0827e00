/** The collections that the person may search, their own first. */
import { listCollections, type Collection, type ListedCollection } from "../../api/knowledge.ts";
import { session } from "../session.svelte.ts";
import { sentenceOf } from "../toasts.svelte.ts";

export const isOwn = (collection: Collection) => collection.owner === session.user?.id;

class Collections {
  /** Null until it is known. */
  list = $state.raw<ListedCollection[] | null>(null);
  problem = $state("");
  readonly own = $derived(this.list?.filter(isOwn) ?? []);
  readonly ofOthers = $derived(this.list?.filter((collection) => !isOwn(collection)) ?? []);

  async load(): Promise<void> {
    try {
      this.list = (await listCollections()).collections;
      this.problem = "";
    } catch (error) {
      this.problem = sentenceOf(error);
    }
  }
}

export const collections = new Collections();
