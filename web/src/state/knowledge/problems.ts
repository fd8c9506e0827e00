/** Translated reasons why a file could not be parsed, or a model call failed. */
import type { DocumentProblem, SearchNote, Structure as DocumentStructure } from "../../api/knowledge.ts";
import { said, t, type Key } from "../../i18n/index.svelte.ts";

const words: Record<string, Key> = {
  too_large: "unreadable.too_large",
  unpacks_too_large: "unreadable.unpacks_too_large",
  too_much_text: "unreadable.too_much_text",
  too_many_pages: "unreadable.too_many_pages",
  encrypted: "unreadable.encrypted",
  damaged: "unreadable.damaged",
  too_old: "unreadable.too_old",
  no_text: "unreadable.no_text",
  no_recognition: "unreadable.no_recognition",
  not_recognized: "unreadable.not_recognized",
  unknown_format: "unreadable.unknown_format",
  picture: "unreadable.picture",
  recording: "unreadable.recording",
  not_converted: "unreadable.not_converted",
  too_many_pixels: "unreadable.too_many_pixels",
  vision_failed: "unreadable.vision_failed",
  vision_late: "unreadable.vision_late",
  vision_limited: "unreadable.vision_limited",
  cancelled: "unreadable.cancelled",
  too_slow: "unreadable.too_slow",
  too_much_memory: "unreadable.too_much_memory",
  fault: "unreadable.fault",
};

/** Keys of file formats by the server's names for them. */
const formats: Record<string, Key> = {
  "an Office document": "unreadable.as.office",
  "a ZIP archive": "unreadable.as.archive",
  "a document": "unreadable.as.document",
  "an e-mail": "unreadable.as.mail",
  "a web page": "unreadable.as.page",
  "a picture": "unreadable.as.picture",
};

function formatOf(format: string): string {
  return Object.hasOwn(formats, format) && formats[format] ? t(formats[format]) : format;
}

export function wordsOf(problem: DocumentProblem | null): string {
  const key = problem && Object.hasOwn(words, problem.code) ? words[problem.code] : undefined;
  // Reasons of services have a sentence of their own.
  if (!problem || !key) return problem ? said(problem) : t("knowledge.failed");
  return t(key, {
    mb: Math.floor((problem.limit_bytes ?? 0) / 1_000_000),
    limit: problem.limit ?? 0,
    seconds: problem.limit_seconds ?? 0,
    format: formatOf(problem.format ?? ""),
    cause: problem.cause ?? "",
  });
}

/** Page numbers as ranges: `1–3, 7`. */
export function pageRanges(numbers: number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}–${to}`)).join(", ");
}

const unreadPages = {
  no_recognition: "knowledge.unread.no_recognition",
  too_slow: "knowledge.unread.too_slow",
  too_large: "knowledge.unread.too_large",
  failed: "knowledge.unread.failed",
} as const;

/** Notes about pages that are images: those whose text was recognized, and those that were not read. */
export function pageNotes(structure: DocumentStructure): { recognized: string; unread: string[] } {
  const { pages, recognized = [], unread = [] } = structure;
  const isAll = recognized.length >= Math.max(pages.length, 1);
  const unreadFor = (reason: keyof typeof unreadPages) => {
    const numbers = unread.filter((page) => page.reason === reason).map((page) => page.number);
    return numbers.length > 0 ? [t(unreadPages[reason], { pages: pageRanges(numbers) })] : [];
  };
  const reasons = Object.keys(unreadPages) as (keyof typeof unreadPages)[];
  return {
    recognized:
      recognized.length === 0
        ? ""
        : isAll
          ? t("knowledge.recognized")
          : t("knowledge.recognizedPages", { pages: pageRanges(recognized) }),
    unread: reasons.flatMap(unreadFor),
  };
}

const notes: Record<string, Key> = {
  failed: "knowledge.meaningFailed",
  late: "knowledge.meaningLate",
  texts: "knowledge.meaningTexts",
  limited: "knowledge.meaningLimited",
  cancelled: "knowledge.meaningCancelled",
  no_meaning: "knowledge.noteMeaning",
  not_embedded: "knowledge.noteNotEmbedded",
  no_vectors: "knowledge.noteVectors",
  no_rerank: "knowledge.noteRerank",
};

/** Translated note; falls back to the server's English text. */
export const noteWords = ({ code, message }: SearchNote): string =>
  Object.hasOwn(notes, code) && notes[code] ? t(notes[code]) : message;

const graphs: Record<string, Key> = {
  failed: "graph.failed",
  late: "graph.late",
  form: "graph.form",
  limited: "graph.limited",
  cancelled: "unreadable.cancelled",
};

/** The same for a document pending in a graph. */
export const graphWords = ({ code, message }: SearchNote): string =>
  Object.hasOwn(graphs, code) && graphs[code] ? t(graphs[code]) : message;
