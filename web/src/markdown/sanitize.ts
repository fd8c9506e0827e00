// Sanitises all HTML that enters the page, with one narrow DOMPurify profile per kind of content.

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
    ...["sub", "sup", "kbd", "mark", "u", "b", "i", "s", "ins", "small", "details", "summary", "wbr"],
  ],
  ALLOWED_ATTR: [
    ...["align", "alt", "class", "dir", "href", "rel", "src", "start", "tabindex", "target", "title", "type"],
    ...["data-alert", "data-alt", "data-cites", "data-copy", "data-footnote", "data-lang"],
    ...["data-src", "data-table", "data-tex"],
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

const HIGHLIGHT: Config = {
  ALLOWED_TAGS: ["span", "wbr", "#text"],
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

/** A second check of what the renderer already guarantees: where links and images may point. */
function checkAddresses(node: Element): void {
  if (node.hasAttribute("href")) {
    if (safeHref(node.getAttribute("href") ?? "") === undefined) node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noreferrer noopener");
  }
  if (node.hasAttribute("src") && !isInlineRaster(node.getAttribute("src") ?? ""))
    node.removeAttribute("src");
}

type Sanitizer = (html: string) => string;
type Hook = (node: Element) => void;

/**
 * For markup produced many times a second: parses in one reusable inert element (by default DOMPurify creates a
 * document each time) and reads its settings once. `tag` is the element that will contain the markup.
 */
function inPlace(tag: string, config: Config, hook?: Hook): Sanitizer {
  let root: HTMLElement | undefined;
  let purifier: DOMPurify | undefined;
  return (html) => {
    root ??= document.implementation.createHTMLDocument("").createElement(tag);
    purifier ??= configured({ ...config, IN_PLACE: true }, hook);
    root.innerHTML = html;
    purifier.sanitize(root);
    const clean = root.innerHTML;
    root.textContent = "";
    return clean;
  };
}

/** For individual pieces: DOMPurify's ordinary way. */
function whole(config: Config, hook?: Hook): Sanitizer {
  let purifier: DOMPurify | undefined;
  return (html) => (purifier ??= configured(config, hook)).sanitize(html);
}

function configured(config: Config, hook?: Hook): DOMPurify {
  const purifier = createDOMPurify(window);
  purifier.setConfig(config);
  if (hook) purifier.addHook("afterSanitizeAttributes", hook);
  return purifier;
}

/** Sanitises rendered markdown. */
export const sanitizeMarkdown = inPlace("div", MARKDOWN, checkAddresses);

/** Sanitises table rows, which only parse inside a table. */
export const sanitizeRows = inPlace("tbody", MARKDOWN, checkAddresses);

/** Sanitises highlighted code: coloured spans and text, nothing else. */
export const sanitizeHighlight = inPlace("span", HIGHLIGHT);

/** Sanitises a typeset formula. */
export const sanitizeMath = whole(MATH);
