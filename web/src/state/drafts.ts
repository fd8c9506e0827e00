/** Unsent text per chat and form drafts, kept for the lifetime of the browser tab. */
import { storageKey } from "../api/base.ts";
import type { Draft } from "./form.ts";

const keyOf = (chat: string | null) => storageKey(`draft.${chat ?? "new"}`);

export function readDraft(chat: string | null): string {
  try {
    return sessionStorage.getItem(keyOf(chat)) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(chat: string | null, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(keyOf(chat));
    else sessionStorage.setItem(keyOf(chat), text);
  } catch {
    // Storage is unavailable: the draft exists only in the field.
  }
}

const formKeyOf = (run: string, question: string) => storageKey(`form.${run}.${question}`);

export function readFormDraft(run: string, question: string): Draft | null {
  try {
    const kept = sessionStorage.getItem(formKeyOf(run, question));
    return kept === null ? null : (JSON.parse(kept) as Draft);
  } catch {
    return null;
  }
}

export function keepFormDraft(run: string, question: string, draft: Draft | null): void {
  try {
    if (draft === null) sessionStorage.removeItem(formKeyOf(run, question));
    else sessionStorage.setItem(formKeyOf(run, question), JSON.stringify(draft));
  } catch {
    // Storage is unavailable: the draft exists only in the fields.
  }
}

const textKeyOf = (place: string) => storageKey(`text.${place}`);

/** Unsent text of a field that can be closed or scrolled out of view. */
export function readText(place: string): string | null {
  try {
    return sessionStorage.getItem(textKeyOf(place));
  } catch {
    return null;
  }
}

export function keepText(place: string, text: string | null): void {
  try {
    if (text === null || text === "") sessionStorage.removeItem(textKeyOf(place));
    else sessionStorage.setItem(textKeyOf(place), text);
  } catch {
    // Storage is unavailable: the draft exists only in the field.
  }
}
