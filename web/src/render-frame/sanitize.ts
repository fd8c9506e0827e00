// Sanitises drawings: SVG without scripts, HTML, links, animations or anything that loads. The page shows a drawing as
// an image, in which none of that works; but users also save it.

import createDOMPurify, { type Config } from "dompurify";

const DRAWING: Config = {
  USE_PROFILES: { svg: true, svgFilters: true },
  ADD_TAGS: ["style"],
  FORBID_TAGS: [
    ...["a", "image", "feImage", "foreignObject", "script"],
    ...["animate", "animateMotion", "animateTransform", "set"],
  ],
  ALLOW_DATA_ATTR: false,
};

/** CSS that could load something; a backslash could hide a keyword, so it counts too. */
const LOADS = /@import|\\|(?:url|image|image-set|src)\s*\(\s*(?!['"]?#)/i;

const purifier = createDOMPurify(window);
purifier.addHook("afterSanitizeAttributes", checkAddresses);

/** References may only point to parts of the same drawing. */
function checkAddresses(node: Element): void {
  if (node.nodeName.toLowerCase() === "style" && LOADS.test(node.textContent)) node.remove();
  for (const { name, value } of Array.from(node.attributes)) {
    const isReference = name === "href" || name === "xlink:href";
    if (isReference ? !value.startsWith("#") : LOADS.test(value)) node.removeAttribute(name);
  }
}

/** Throws if the markup contains no drawing. */
export function sanitizeDrawing(markup: string): SVGSVGElement {
  const clean = purifier.sanitize(markup, { ...DRAWING, RETURN_DOM_FRAGMENT: true });
  const svg = clean.querySelector("svg");
  if (!svg) throw new Error("there is no drawing");
  return svg;
}
