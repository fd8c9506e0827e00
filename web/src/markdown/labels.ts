// Translated labels used in rendered text.

export interface MarkdownLabels {
  copy: string;
  copied: string;
  /** On the buttons of code blocks and tables. */
  wrap: string;
  download: string;
  copyCsv: string;
  copyMarkdown: string;
  /** Whether long lines of code are wrapped, and the change of that; read in effects. */
  wrapsCode: () => boolean;
  toggleWrap: () => void;
  /** Copies code or a table; resolves to whether it was copied. */
  copyText: (text: string) => Promise<boolean>;
  /** On the button shown in place of an external image. */
  loadImage: (host: string) => string;
  /** On the same button while loading, and if the image could not be loaded. */
  loadingImage: (host: string) => string;
  imageFailed: (host: string) => string;
  /** Returns a local URL for an external image; the page itself may not load external images. */
  fetchImage: (url: string) => Promise<string>;
  /** URL of an image in the user's own files, by its path; `undefined` if the path is not one. */
  workspaceImage: (path: string) => string | Promise<string> | undefined;
  /** Accessible name of the `[n]` button. */
  citation: (n: number) => string;
  /** Accessible name of a rendered diagram. */
  diagram: string;
  /** Above the source of a diagram that could not be rendered. */
  diagramFailed: string;
  /** Above the source of a diagram that took too long. */
  diagramSlow: string;
}

export const englishLabels: MarkdownLabels = {
  copy: "Copy",
  copied: "Copied",
  wrap: "Wrap lines",
  download: "Download",
  copyCsv: "Copy as CSV",
  copyMarkdown: "Copy as Markdown",
  wrapsCode: () => false,
  toggleWrap: () => {},
  copyText: (text) =>
    navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    ),
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
