// What the page and its render frame say to each other, one request and one answer for each message port.

/** Mermaid source, and the colours it is drawn in. */
export interface RenderRequest {
  source: string;
  isDark: boolean;
}

/** HTML to be shown; the answer is its height in CSS pixels. */
export interface HtmlRequest {
  html: string;
}

/** A drawing as XML, with its natural size in CSS pixels. */
export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

/** A drawing, or null where the source is not a diagram. */
export type RenderAnswer = Drawing | null;
