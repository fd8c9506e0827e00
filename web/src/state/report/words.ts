/** A report to export: its text and sources, and what is said about them. */
import type { Source, Unconfirmed } from "../../api/events.ts";
import type { UnconfirmedMarks } from "../unconfirmed.ts";

export interface Report {
  title: string;
  /** Markdown with citation marks. */
  text: string;
  sources: readonly Source[];
  /** The marks whose quotes do not confirm their sentences. */
  unconfirmed: UnconfirmedMarks;
  words: SourceWords;
}

/** Translated labels for the sources of an exported report. */
export interface SourceWords {
  heading: string;
  /** Next to a source whose quote is not verified. */
  unverified: string;
  /** Next to a source whose quote does not confirm a sentence, by the reason. */
  unconfirmed: Readonly<Record<Unconfirmed, string>>;
}

/** What speaks against a source: its quote was not found, or does not confirm a sentence, whose mark ends in `?`. */
export function doubtsOf(source: Source, { unconfirmed, words }: Report): string[] {
  const reasons = new Set(unconfirmed.get(source.id));
  reasons.delete(undefined);
  return [
    ...(source.verified === false ? [words.unverified] : []),
    ...[...reasons].map((reason) => `[${source.id}?] ${reason ? words.unconfirmed[reason] : ""}`),
  ];
}
