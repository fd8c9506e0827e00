// Renders a mermaid diagram as a sanitised SVG document.

import mermaid from "mermaid";
import type { Drawing, RenderRequest } from "./protocol";
import { sanitizeDrawing } from "./sanitize";

/** Maximum length of the source, characters. */
const MAX_SOURCE_CHARS = 20_000;
const MAX_EDGES = 300;
let count = 0;

/** The colours of the page. A line stops at its label and does not run through the text. */
const LIGHT = {
  darkMode: false,
  background: "#fff",
  edgeLabelBackground: "#fff",
  primaryColor: "#eaf2fd",
  primaryBorderColor: "#1f5fbf",
  primaryTextColor: "#16181d",
  secondaryColor: "#e9f6ec",
  tertiaryColor: "#fdf6e7",
  lineColor: "#4a5361",
  textColor: "#16181d",
  noteBkgColor: "#fdf6e7",
  noteTextColor: "#16181d",
};
const DARK = {
  darkMode: true,
  background: "#14161a",
  edgeLabelBackground: "#14161a",
  primaryColor: "#1b2637",
  primaryBorderColor: "#7ab0ff",
  primaryTextColor: "#e8eaee",
  secondaryColor: "#16271b",
  tertiaryColor: "#272216",
  lineColor: "#aab3c0",
  textColor: "#e8eaee",
  noteBkgColor: "#272216",
  noteTextColor: "#e8eaee",
};

/** Settings inside a diagram can change neither its colours nor the allowed content. */
const LOCKED = [
  ...["secure", "securityLevel", "startOnLoad", "maxTextSize", "suppressErrorRendering", "maxEdges"],
  ...["htmlLabels", "theme", "themeCSS", "themeVariables", "fontFamily", "altFontFamily", "darkMode"],
];

/** Rejects if the source is not a valid diagram. */
export async function drawMermaid({ source, isDark }: RenderRequest): Promise<Drawing> {
  if (source.length > MAX_SOURCE_CHARS) throw new Error("the diagram is too long");
  mermaid.initialize({
    startOnLoad: false,
    secure: LOCKED,
    securityLevel: "strict",
    suppressErrorRendering: true,
    htmlLabels: false,
    theme: "base",
    themeVariables: isDark ? DARK : LIGHT,
    themeCSS: ".edgeLabel rect { opacity: 1 }",
    fontFamily: "system-ui, sans-serif",
    maxTextSize: MAX_SOURCE_CHARS,
    maxEdges: MAX_EDGES,
  });
  const { svg } = await mermaid.render(`diagram-${count++}`, titleOf(source) + withoutSettings(source));
  const drawing = sanitizeDrawing(svg);
  // Lines that use `currentColor`; an image inherits no text colour.
  drawing.style.color = isDark ? "#e8eaee" : "#16181d";
  return asDrawing(drawing);
}

/** The title of the front matter, as front matter; JSON is YAML. */
function titleOf(source: string): string {
  const front = /^\s*---\n([^]*?)\n---[ \t]*\n/.exec(source)?.[1] ?? "";
  const title = /^title:[ \t]*(["']?)([^\n]{1,200})\1[ \t]*$/m
    .exec(front)?.[2]
    ?.replace(/[%{}<>\\]/g, "")
    .trim();
  return title ? `---\ntitle: ${JSON.stringify(title)}\n---\n` : "";
}

/** Removes front matter and directives; removing one may expose another. */
function withoutSettings(source: string): string {
  const rest = source.replace(/^\s*---\n[^]*?\n---[ \t]*\n/, "").replace(/%%\{[^]*?\}%%/g, "");
  return rest === source ? source : withoutSettings(rest);
}

/** Sets the drawing's intended size as attributes, which an image needs. */
function asDrawing(svg: SVGSVGElement): Drawing {
  const box = svg.viewBox.baseVal;
  const width = inPixels(svg.style.maxWidth) ?? inPixels(svg.getAttribute("width")) ?? box.width;
  const height = box.width > 0 ? (width * box.height) / box.width : inPixels(svg.getAttribute("height"));
  if (!height || width <= 0) throw new Error("the diagram is empty");
  svg.style.removeProperty("max-width");
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  return { svg: new XMLSerializer().serializeToString(svg), width, height };
}

function inPixels(length: string | null): number | undefined {
  const number = length?.match(/^([\d.]+)(?:px)?$/)?.[1];
  return number === undefined ? undefined : Number(number);
}
