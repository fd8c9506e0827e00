// The words a rendered text needs from the page's language.

export interface MarkdownLabels {
  copy: string;
  copied: string;
  /** On the button that stands for an external image. */
  loadImage: (host: string) => string;
  /** On the same button meanwhile, and when the image could not be loaded. */
  loadingImage: (host: string) => string;
  imageFailed: (host: string) => string;
  /** Gives the address in this document of an external image; the page itself may not load one. */
  fetchImage: (url: string) => Promise<string>;
  /** Where a picture of the reader's own files is, by its path; undefined for all that is not one. */
  workspaceImage: (path: string) => string | Promise<string> | undefined;
  /** Spoken name of the `[n]` button. */
  citation: (n: number) => string;
  /** Spoken name of a drawn diagram. */
  diagram: string;
  /** Above the source of a diagram that could not be drawn. */
  diagramFailed: string;
  /** Above the source of a diagram that took too long. */
  diagramSlow: string;
}

export const englishLabels: MarkdownLabels = {
  copy: "Copy",
  copied: "Copied",
  loadImage: (host) => `Load image from ${host}`,
  loadingImage: (host) => `Loading image from ${host}…`,
  imageFailed: (host) => `The image from ${host} could not be loaded`,
  fetchImage: () => Promise.reject(new Error("images of other sites are not loaded here")),
  workspaceImage: () => undefined,
  citation: (n) => `Source ${n}`,
  diagram: "Diagram",
  diagramFailed: "This diagram could not be drawn",
  diagramSlow: "This diagram takes too long to draw",
};
