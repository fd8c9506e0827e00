// Draws mermaid diagrams, loaded with the first one; everything they could load or run is refused.

import { sanitizeDiagram } from "./sanitize";

const LIMIT_CHARS = 20_000;
let count = 0;
let queue: Promise<unknown> = Promise.resolve();

/** Pictures, styles and links would make the browser fetch something while the diagram is measured. */
const REFUSED = /\/\/|url\s*\(|@import|javascript:|data:|<\s*img|\bimg\s*:/i;

/** Node data may name a picture, and its YAML may spell the word with escapes. */
const REFUSED_DATA = /@\{[^]*(?:img|\\)/i;

/** Settings inside a diagram could change what the page looks like. */
function withoutSettings(source: string): string {
  return source.replace(/^\s*---\n[^]*?\n---[ \t]*\n/, "").replace(/%%\{[^]*?\}%%/g, "");
}

/** Returns a sanitised SVG; rejects when the source is refused or not a diagram. */
export function drawDiagram(source: string, isDark: boolean): Promise<string> {
  // One at a time: mermaid keeps its settings in one place.
  const drawn = queue.then(() => draw(withoutSettings(source), isDark));
  queue = drawn.catch(() => undefined);
  return drawn;
}

async function draw(source: string, isDark: boolean): Promise<string> {
  if (source.length > LIMIT_CHARS || REFUSED.test(source) || REFUSED_DATA.test(source))
    throw new Error("diagram refused");
  const { default: mermaid } = await import("mermaid");
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false,
    theme: isDark ? "dark" : "neutral",
    fontFamily: "system-ui, sans-serif",
    maxTextSize: LIMIT_CHARS,
    maxEdges: 300,
  });
  const { svg } = await mermaid.render(`md-diagram-${count++}`, source);
  const clean = sanitizeDiagram(svg);
  if (!clean) throw new Error("diagram is empty");
  return clean;
}
