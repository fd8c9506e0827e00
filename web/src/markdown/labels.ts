// Translated labels used in rendered text.

export type AlertKind = "note" | "tip" | "important" | "warning" | "caution";

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
  /** Whether there is a source with this number; without one, `[n]` is text. Read in effects. */
  isSource: (n: number) => boolean;
  /** Title of an alert such as `> [!NOTE]`. */
  alert: (kind: AlertKind) => string;
  /** Accessible name of a reference to a footnote. */
  footnote: (name: string) => string;
  /** Accessible name of the button that is an image, and what it does. */
  openImage: (name: string) => string;
  showLarge: (picture: { src: string; name: string; isDrawing: boolean }) => void;
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
  isSource: () => false,
  alert: (kind) => kind.charAt(0).toUpperCase() + kind.slice(1),
  footnote: (name) => `Footnote ${name}`,
  openImage: (name) => `Open ${name} large`,
  showLarge: () => {},
  diagram: "Diagram",
  diagramFailed: "This diagram could not be drawn",
  diagramSlow: "This diagram takes too long to draw",
};
