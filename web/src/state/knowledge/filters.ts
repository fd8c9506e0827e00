/** What a search is narrowed to: kinds of files by the endings of their names, and the day since which they came. */

const endings = {
  pdf: ["pdf"],
  word: ["docx", "docm"],
  slides: ["pptx", "pptm"],
  tables: ["xlsx", "xlsm", "csv", "tsv"],
  pages: ["html", "htm", "xhtml"],
  mail: ["eml"],
  text: ["md", "markdown", "txt", "rst"],
  pictures: ["png", "jpg", "jpeg", "webp", "gif"],
};

export type Kind = keyof typeof endings;
export const kinds = Object.keys(endings) as Kind[];

/** The part of a search that says so. What an address has and nobody knows narrows nothing. */
export function narrowed(wanted: { kind: string | null; since: string | null }): {
  types?: string[];
  since?: number;
} {
  const kind = kinds.find((kind) => kind === wanted.kind);
  // The day as it is where the person is.
  const since = /^\d{4}-\d\d-\d\d$/.test(wanted.since ?? "") ? Date.parse(`${wanted.since}T00:00`) : NaN;
  return { ...(kind ? { types: endings[kind] } : {}), ...(Number.isFinite(since) ? { since } : {}) };
}
