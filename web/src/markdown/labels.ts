// The words a rendered text needs from the page's language.

export interface MarkdownLabels {
  copy: string;
  copied: string;
  /** On the button that stands for an external image. */
  loadImage: (host: string) => string;
  /** Where a picture of the reader's own files is, by its path; undefined for all that is not one. */
  ownPicture: (path: string) => string | Promise<string> | undefined;
  /** Spoken name of the `[n]` button. */
  citation: (n: number) => string;
  /** Spoken name of a drawn diagram. */
  diagram: string;
  /** Above the source of a diagram that could not be drawn. */
  diagramFailed: string;
}

export const englishLabels: MarkdownLabels = {
  copy: "Copy",
  copied: "Copied",
  loadImage: (host) => `Load image from ${host}`,
  ownPicture: () => undefined,
  citation: (n) => `Source ${n}`,
  diagram: "Diagram",
  diagramFailed: "This diagram could not be drawn",
};
