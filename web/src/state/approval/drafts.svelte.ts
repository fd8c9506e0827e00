/** Unsent edits of waiting calls: kept for the lifetime of the browser tab, and known to all parts of the page. */
import { SvelteMap } from "svelte/reactivity";
import { keepText, readText } from "../drafts.ts";
import { parseDraft, type ArgumentsDraft } from "./fields.ts";

const placeOf = (run: string, approval: string) => `${run}.${approval}.arguments`;

class ApprovalDrafts {
  /** Those that were changed since the page was loaded; `null` if discarded. */
  readonly #changed = new SvelteMap<string, ArgumentsDraft | null>();

  of(run: string, approval: string): ArgumentsDraft | null {
    const place = placeOf(run, approval);
    const changed = this.#changed.get(place);
    if (changed !== undefined) return changed;
    const stored = readText(place);
    return stored === null ? null : parseDraft(stored);
  }

  keep(run: string, approval: string, draft: ArgumentsDraft | null): void {
    const place = placeOf(run, approval);
    this.#changed.set(place, draft);
    keepText(place, draft === null ? null : JSON.stringify(draft));
  }
}

export const approvalDrafts = new ApprovalDrafts();
