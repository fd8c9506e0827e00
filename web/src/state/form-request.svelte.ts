/** The requests of a form, such as those of its test and its save: which one is under way, and how the last one ended. */
import { ApiError } from "../api/http.ts";
import { sentenceOf } from "./toasts.svelte.ts";

export interface Result {
  isOk: boolean;
  text: string;
  /** The field that the server refused. */
  field?: string | null;
}

export class FormRequest<Name extends string = "save"> {
  /** `null` if none is under way. */
  current = $state<Name | null>(null);
  /** `null` if there is nothing to tell in the form. */
  result = $state.raw<Result | null>(null);

  get busy(): boolean {
    return this.current !== null;
  }

  /** Why the last one failed; empty if it did not. */
  get problem(): string {
    return this.result && !this.result.isOk ? this.result.text : "";
  }

  /** Runs one, which may return what to tell in the form. */
  async run(name: Name, work: () => Promise<Result> | Promise<void>): Promise<void> {
    [this.current, this.result] = [name, null];
    try {
      this.result = (await work()) ?? null;
    } catch (error) {
      const field = error instanceof ApiError ? error.field : null;
      this.result = { isOk: false, text: sentenceOf(error), field };
    }
    this.current = null;
  }
}
