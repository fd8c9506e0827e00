/** Prints a single answer, which browsers can also save as PDF, with its fonts, formulas and tables as displayed. */
import { citedOf, quoteOf } from "../sources.ts";
import { doubtsOf, type Report } from "./words.ts";

/** Opens the browser's print dialog. `answer` is the rendered answer. */
export function printReport(report: Report, answer: HTMLElement): void {
  printSheet(report.title, sheetOf(report, answer));
}

/** Prints an element of the class `print-sheet`, and removes it afterwards. */
export function printSheet(title: string, sheet: HTMLElement, onend?: () => void): void {
  const { dataset } = document.documentElement;
  const { theme } = dataset;
  const name = document.title;
  const end = () => {
    sheet.remove();
    onend?.();
    document.title = name;
    if (theme) dataset.theme = theme;
  };
  // Paper is white, and the title becomes the file name.
  dataset.theme = "light";
  document.title = title || name;
  document.body.append(sheet);
  addEventListener("afterprint", end, { once: true });
  print();
}

function sheetOf(report: Report, answer: HTMLElement): HTMLElement {
  const { title, text, sources, words } = report;
  const sheet = document.createElement("div");
  sheet.className = "print-sheet";
  if (title) sheet.append(element("h1", title));
  // Cloned as direct children, because styles select them by class.
  for (const child of answer.children) sheet.append(child.cloneNode(true));
  // Elsewhere the style sheet of the answer adds it.
  for (const button of sheet.querySelectorAll("[data-unconfirmed]")) button.append("?");
  const list = citedOf(text, sources);
  if (list.length === 0) return sheet;
  const items = document.createElement("ol");
  for (const source of list) {
    const { id, title, url } = source;
    const item = element("li", title);
    item.value = Number(id);
    item.append(" ", element("small", url));
    if (source.quote) item.append(element("blockquote", quoteOf(source)));
    for (const doubt of doubtsOf(source, report)) item.append(element("br", ""), element("small", doubt));
    items.append(item);
  }
  sheet.append(element("h2", words.heading), items);
  return sheet;
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, text: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
