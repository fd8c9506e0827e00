// Enhances rendered markup in place: formulas, highlighting of nested code, translated labels.

import { colours } from "./highlight";
import type { AlertKind, MarkdownLabels } from "./labels";
import { fillFormulas } from "./formulas";

/** External images the user has loaded, by URL; they stay loaded when their block is rendered again. */
export type LoadedImages = Map<string, Promise<string>>;

/** Fills the placeholders in the markup. Call after every change of `root`'s content, before it is painted. */
export function enhance(root: HTMLElement, labels: MarkdownLabels, loaded: LoadedImages): void {
  const formulas = root.querySelectorAll<HTMLElement>("[data-tex]");
  if (formulas.length > 0) fillFormulas([...formulas]);
  for (const cites of root.querySelectorAll<HTMLElement>("[data-cites]")) showCitations(cites, labels);
  for (const button of root.querySelectorAll<HTMLElement>("[data-table]"))
    button.textContent = button.dataset.table === "csv" ? labels.copyCsv : labels.copyMarkdown;
  for (const title of root.querySelectorAll<HTMLElement>("[data-alert]"))
    title.textContent = labels.alert(title.dataset.alert as AlertKind);
  for (const button of root.querySelectorAll<HTMLElement>("[data-footnote]"))
    button.ariaLabel = labels.footnote(button.dataset.footnote ?? "");
  for (const button of root.querySelectorAll<HTMLElement>("[data-copy]")) labelCodeButtons(button, labels);
  for (const button of root.querySelectorAll<HTMLElement>("[data-src]")) {
    const own = labels.workspaceImage(button.dataset.src ?? "");
    if (own !== undefined) showOwn(button, own, labels);
    else if (loaded.has(button.dataset.src ?? "")) void showImage(button, labels, loaded);
    else button.textContent = imageLabel(button, labels.loadImage);
  }
  for (const image of root.querySelectorAll<HTMLImageElement>("img")) {
    // Not inside a link, which would be followed.
    if (!image.closest(".md-open, a")) {
      const place = document.createComment("");
      image.replaceWith(place);
      place.replaceWith(openable(image, labels));
    }
  }
  for (const code of root.querySelectorAll<HTMLElement>("code[data-lang]")) void colourNested(code);
}

/** A citation mark as a button if it has a source, else as text. */
function showCitations(cites: HTMLElement, labels: MarkdownLabels): void {
  const number = Number(cites.dataset.cites);
  const isSource = labels.isSource(number);
  if (isSource === cites.classList.contains("md-cites")) return;
  cites.classList.toggle("md-cites", isSource);
  if (!isSource) {
    cites.textContent = `[${number}]`;
    return;
  }
  const button = Object.assign(document.createElement("button"), { type: "button", className: "md-cite" });
  button.dataset.cite = String(number);
  button.textContent = String(number);
  button.ariaLabel = labels.citation(number);
  cites.replaceChildren(button);
}

/** The buttons of a nested code block, of which the markup has only the last. */
function labelCodeButtons(copy: HTMLElement, labels: MarkdownLabels): void {
  copy.textContent = labels.copy;
  const other = (name: "wrap" | "save", words: string): HTMLElement => {
    const found = copy.parentElement?.querySelector<HTMLElement>(`[data-${name}]`);
    const button = found ?? Object.assign(document.createElement("button"), { type: "button" });
    button.dataset[name] = "";
    button.textContent = words;
    if (!found) copy.before(button);
    return button;
  };
  other("wrap", labels.wrap).ariaPressed = String(labels.wrapsCode());
  other("save", labels.download);
}

async function colourNested(code: HTMLElement): Promise<void> {
  for await (const [html] of colours(code.dataset.lang ?? "", [code.textContent])) {
    if (html !== undefined) code.innerHTML = html;
  }
}

function imageLabel(button: HTMLElement, words: (host: string) => string): string {
  const host = URL.parse(button.dataset.src ?? "", location.href)?.host ?? "";
  const alt = button.dataset.alt;
  return (alt ? `${alt} · ` : "") + words(host);
}

/** An image from the user's own files loads without a click; if it does not exist, its alt text stays. */
function showOwn(button: HTMLElement, address: string | Promise<string>, labels: MarkdownLabels): void {
  const image = new Image();
  image.alt = button.dataset.alt ?? "";
  const fail = () => image.closest(".md-open")?.replaceWith(image.alt);
  image.onerror = fail;
  if (typeof address === "string") image.src = address;
  else address.then((known) => (image.src = known), fail);
  button.replaceWith(openable(image, labels));
}

/** An image as a button that shows it large. */
function openable(image: HTMLImageElement, labels: MarkdownLabels): HTMLElement {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "md-open" });
  button.dataset.open = "";
  button.ariaLabel = labels.openImage(image.alt);
  button.append(image);
  return button;
}

/** Replaces the button with the image once it has loaded; a failed button can be clicked again. */
export async function showImage(
  button: HTMLElement,
  labels: MarkdownLabels,
  loaded: LoadedImages,
): Promise<void> {
  const { src = "", alt = "" } = button.dataset;
  const fetched = loaded.get(src) ?? labels.fetchImage(src);
  loaded.set(src, fetched);
  button.textContent = imageLabel(button, labels.loadingImage);
  button.ariaBusy = "true";
  const image = new Image();
  image.alt = alt;
  try {
    image.src = await fetched;
    await image.decode();
    button.replaceWith(openable(image, labels));
  } catch (error) {
    loaded.delete(src);
    const reason = error instanceof Error ? error.message : "";
    button.textContent = `${imageLabel(button, labels.imageFailed)}. ${reason}`.trim();
    button.ariaBusy = null;
  }
}
