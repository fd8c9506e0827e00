// Diagrams as images: drawn in the render frame, and remembered for when they come into view again.

import { DrawingTimeout, NotDrawable, render } from "./render-frame";

export interface Diagram {
  /** A `data:` address: what it holds is inert in an image, and has no origin where it is opened by itself. */
  src: string;
  width: number;
  height: number;
}

const MAX_REMEMBERED = 50;
const remembered = new Map<string, Promise<Diagram>>();

/** Draws mermaid source; rejects as `render` does. What cannot be drawn is not tried again. */
export function drawDiagram(source: string, isDark: boolean): Promise<Diagram> {
  const key = (isDark ? "d" : "l") + source;
  const known = remembered.get(key);
  if (known) return known;
  const drawn = render({ source, isDark }).then(({ svg, width, height }) => ({
    src: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    width,
    height,
  }));
  drawn.catch((error: unknown) => {
    const isFinal = error instanceof NotDrawable || error instanceof DrawingTimeout;
    if (!isFinal) remembered.delete(key);
  });
  if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
  remembered.set(key, drawn);
  return drawn;
}
