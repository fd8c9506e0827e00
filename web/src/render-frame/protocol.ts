// Messages between the page and its render frame: one request and one response per message port.

/** Mermaid source and its colour scheme. */
export interface RenderRequest {
  source: string;
  isDark: boolean;
}

/** HTML to show; the response is its height in CSS pixels. */
export interface HtmlRequest {
  html: string;
}

/** A drawing as XML, with its natural size in CSS pixels. */
export interface Drawing {
  svg: string;
  width: number;
  height: number;
}

/** A drawing, or `null` if the source is not a diagram. */
export type RenderAnswer = Drawing | null;
