/** Collections the user may search, their own first. */
import { listCollections, type Collection, type ListedCollection } from "../../api/knowledge.ts";
import { session } from "../session.svelte.ts";
import { sentenceOf } from "../toasts.svelte.ts";

export const isOwn = (collection: Collection) => collection.owner === session.user?.id;

class Collections {
  /** `null` until loaded. */
  list = $state.raw<ListedCollection[] | null>(null);
  problem = $state("");
  /** Maximum upload size of the server. */
  fileBytes = $state(Infinity);
  readonly own = $derived(this.list?.filter(isOwn) ?? []);
  readonly ofOthers = $derived(this.list?.filter((collection) => !isOwn(collection)) ?? []);

  async load(): Promise<void> {
    try {
      const { collections, file_bytes } = await listCollections();
      this.list = collections;
      this.fileBytes = file_bytes;
      this.problem = "";
    } catch (error) {
      this.problem = sentenceOf(error);
    }
  }
}

export const collections = new Collections();
