// Finishes rendered markup in place: formulas, colours of nested code, words in the page's language.

import { colours } from "./highlight";
import type { MarkdownLabels } from "./labels";
import { fillFormulas } from "./formulas";

/** Images the reader has loaded; they stay loaded when their block is drawn again. */
export type LoadedImages = Set<string>;

/** Fills in what the markup only names. Call after every change of `root`'s content, before it is painted. */
export function enhance(root: HTMLElement, labels: MarkdownLabels, loaded: LoadedImages): void {
  const formulas = root.querySelectorAll<HTMLElement>("[data-tex]");
  if (formulas.length > 0) fillFormulas([...formulas]);
  for (const button of root.querySelectorAll<HTMLElement>("[data-cite]"))
    button.ariaLabel = labels.citation(Number(button.dataset.cite));
  for (const button of root.querySelectorAll<HTMLElement>("[data-copy]")) button.textContent = labels.copy;
  for (const button of root.querySelectorAll<HTMLElement>("[data-src]")) {
    const own = labels.ownPicture(button.dataset.src ?? "");
    if (own !== undefined) showOwn(button, own);
    else if (loaded.has(button.dataset.src ?? "")) showImage(button, loaded);
    else button.textContent = imageLabel(button, labels);
  }
  for (const code of root.querySelectorAll<HTMLElement>("code[data-lang]")) void colourNested(code);
}

async function colourNested(code: HTMLElement): Promise<void> {
  for await (const [html] of colours(code.dataset.lang ?? "", [code.textContent])) {
    if (html !== undefined) code.innerHTML = html;
  }
}

function imageLabel(button: HTMLElement, labels: MarkdownLabels): string {
  const host = URL.parse(button.dataset.src ?? "", location.href)?.host ?? "";
  const alt = button.dataset.alt;
  return (alt ? `${alt} · ` : "") + labels.loadImage(host);
}

/** A picture of the reader's own files needs no click; where there is none, its words stay. */
function showOwn(button: HTMLElement, address: string | Promise<string>): void {
  const image = new Image();
  image.alt = button.dataset.alt ?? "";
  image.onerror = () => image.replaceWith(image.alt);
  if (typeof address === "string") image.src = address;
  else
    address.then(
      (known) => (image.src = known),
      () => image.replaceWith(image.alt),
    );
  button.replaceWith(image);
}

/** Puts the image in the place of its button. */
export function showImage(button: HTMLElement, loaded: LoadedImages): void {
  const { src = "", alt = "" } = button.dataset;
  loaded.add(src);
  const image = new Image();
  image.referrerPolicy = "no-referrer";
  image.alt = alt;
  image.src = src;
  button.replaceWith(image);
}
