/** Quotes of answers: from a selection to Markdown for the composer. */

/** The range that is selected, if it is text of a single answer. */
export function selectedAnswer(selection: Selection | null): Range | null {
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return null;
  const range = selection.getRangeAt(0);
  const start = range.startContainer;
  const element = start instanceof Element ? start : start.parentElement;
  const answer = element?.closest("article.assistant .answer");
  if (!answer || range.toString().trim() === "") return null;
  if (answer.contains(range.endContainer)) return range;
  // A triple click selects up to the start of what comes next.
  const within = range.cloneRange();
  within.setEnd(answer, answer.childNodes.length);
  const beyond = range.toString().slice(within.toString().length);
  return beyond.trim() === "" ? within : null;
}

/** The text of the range as lines that begin with `> `. */
export function quoteOf(range: Range): string {
  const box = document.createElement("div");
  box.className = "md visually-hidden";
  box.append(range.cloneContents());
  for (const formula of box.querySelectorAll<HTMLElement>("[data-tex]")) {
    formula.replaceWith(`$${formula.dataset.tex ?? ""}$`);
  }
  for (const control of box.querySelectorAll("button, .md-bar")) control.remove();
  // The browser does not lay out sections that are out of view.
  for (const section of box.querySelectorAll(".md-section, .md-chunk")) section.removeAttribute("class");
  // Only text that is laid out has its line breaks.
  document.body.append(box);
  const text = box.innerText.trim();
  box.remove();
  return text
    .replace(/\n{3,}/g, "\n\n")
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}
