// Renders diagrams to images in the render frame and caches them for when they scroll back into view.

import { DrawingTimeout, NotDrawable, render } from "./render-frame";

export interface Diagram {
  /** A `data:` URL: inert as an image, and with an opaque origin when opened on its own. */
  src: string;
  width: number;
  height: number;
}

const MAX_REMEMBERED = 50;
const remembered = new Map<string, Promise<Diagram>>();

/** Renders mermaid source; rejects like `render`. Invalid source is not tried again. */
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
