// What may enter the page as HTML: one narrow DOMPurify profile for each kind of content.

import createDOMPurify, { type Config, type DOMPurify } from "dompurify";
import { isInlineRaster, safeHref } from "./syntax";

const MARKDOWN: Config = {
  ALLOWED_TAGS: [
    ...[
      "a",
      "blockquote",
      "br",
      "button",
      "code",
      "del",
      "div",
      "em",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "hr",
    ],
    ...[
      "img",
      "li",
      "ol",
      "p",
      "pre",
      "span",
      "strong",
      "table",
      "tbody",
      "td",
      "th",
      "thead",
      "tr",
      "ul",
      "#text",
    ],
  ],
  ALLOWED_ATTR: [
    ...["align", "alt", "class", "href", "rel", "src", "start", "tabindex", "target", "title", "type"],
    ...["data-alt", "data-cite", "data-copy", "data-lang", "data-src", "data-tex"],
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

const HIGHLIGHT: Config = {
  ALLOWED_TAGS: ["span", "#text"],
  ALLOWED_ATTR: ["class"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

const MATH: Config = {
  USE_PROFILES: { html: true, mathMl: true, svg: true },
  // KaTeX repeats the source there; the formula itself is enough.
  FORBID_CONTENTS: ["annotation"],
  FORBID_TAGS: ["annotation", "a", "img", "image", "style", "form", "input", "button", "use"],
  FORBID_ATTR: ["href", "src", "id", "name", "xlink:href"],
  ALLOW_DATA_ATTR: false,
};

const DIAGRAM: Config = {
  USE_PROFILES: { svg: true, svgFilters: true },
  ADD_TAGS: ["style"],
  FORBID_TAGS: [
    "a",
    "image",
    "feImage",
    "foreignObject",
    "script",
    "animate",
    "set",
    "animateTransform",
    "animateMotion",
  ],
  ALLOW_DATA_ATTR: false,
};

let markdown: DOMPurify | undefined;
let plain: DOMPurify | undefined;
let diagram: DOMPurify | undefined;

/** A second check of what the renderer already promised: where links and images may point. */
function checkAddresses(node: Element): void {
  if (node.hasAttribute("href")) {
    if (safeHref(node.getAttribute("href") ?? "") === undefined) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noreferrer noopener");
  }
  if (node.hasAttribute("src") && !isInlineRaster(node.getAttribute("src") ?? ""))
    node.removeAttribute("src");
}

/** CSS that could load something; a backslash could hide the word, so it counts too. */
const LOADS = /@import|\\|(?:url|image|image-set|src)\s*\(\s*(?!['"]?#)/i;

function checkDiagram(node: Element): void {
  if (node.nodeName.toLowerCase() === "style" && LOADS.test(node.textContent)) node.remove();
  for (const { name, value } of Array.from(node.attributes)) {
    const isReference = name === "href" || name === "xlink:href";
    if (isReference ? !value.startsWith("#") : LOADS.test(value)) node.removeAttribute(name);
  }
}

/** Sanitises rendered markdown. */
export function sanitizeMarkdown(html: string): string {
  if (!markdown) {
    markdown = createDOMPurify(window);
    markdown.addHook("afterSanitizeAttributes", checkAddresses);
  }
  return markdown.sanitize(html, MARKDOWN);
}

/** Sanitises table rows, which only parse inside a table. */
export function sanitizeRows(rows: string): string {
  const [open, close] = ["<table><tbody>", "</tbody></table>"];
  const html = sanitizeMarkdown(open + rows + close);
  return html.startsWith(open) && html.endsWith(close) ? html.slice(open.length, -close.length) : "";
}

/** Sanitises highlighted code: coloured spans and text, nothing else. */
export function sanitizeHighlight(html: string): string {
  plain ??= createDOMPurify(window);
  return plain.sanitize(html, HIGHLIGHT);
}

/** Sanitises a typeset formula. */
export function sanitizeMath(html: string): string {
  plain ??= createDOMPurify(window);
  return plain.sanitize(html, MATH);
}

/** Sanitises a drawn diagram: SVG without scripts, HTML, links or anything that loads. */
export function sanitizeDiagram(svg: string): string {
  if (!diagram) {
    diagram = createDOMPurify(window);
    diagram.addHook("afterSanitizeAttributes", checkDiagram);
  }
  return diagram.sanitize(svg, DIAGRAM);
}
