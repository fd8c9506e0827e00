/** The report as a self-contained HTML page, without scripts and app-only controls. */
import { citedOf, quoteOf } from "../sources.ts";
import { doubtsOf, type Report } from "./words.ts";

const STYLE = [
  "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}",
  "sup{line-height:0}sup a{text-decoration:none}sup .unverified{color:#a02020;text-decoration:underline dashed}sup .unconfirmed{color:#8a5a00;text-decoration:underline dotted}",
  "img{max-width:100%;height:auto}table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.25em .5em}",
  "pre{padding:.75em 1em;background:#f2f3f5;white-space:pre-wrap}",
  "blockquote{margin:.5em 0;padding-inline-start:.75em;border-inline-start:3px solid #bbb}small{color:#666}",
  "p,h1,h2,h3,h4,h5,h6,li,td,th{unicode-bidi:plaintext}",
].join("");

/** `answer` is the rendered report. */
export function asPage(report: Report, answer: HTMLElement | undefined): string {
  const { title, text, sources, words } = report;
  const cited = citedOf(text, sources);
  const rows = cited.map((source) => {
    const id = escaped(source.id);
    const url = escaped(source.url);
    const address = /^https?:\/\//.test(source.url) ? `<a href="${url}" rel="noreferrer">${url}</a>` : url;
    const quote = source.quote ? `<blockquote>${escaped(quoteOf(source))}</blockquote>` : "";
    const doubts = doubtsOf(source, report).map((doubt) => `<br><small>${escaped(doubt)}</small>`);
    return `<li id="source-${id}" value="${id}">${escaped(source.title)} <small>${address}</small>${quote}${doubts.join("")}</li>`;
  });
  const list = rows.length === 0 ? "" : `<h2>${escaped(words.heading)}</h2><ol>${rows.join("")}</ol>`;
  const content = answer ? stillOf(answer, new Set(cited.map(({ id }) => id))) : "";
  const { lang, dir } = document.documentElement;
  return `<!doctype html>
<html lang="${escaped(lang)}" dir="${dir || "ltr"}"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head><body>${content}${list}</body></html>
`;
}

/** The rendered content without what needs the app's scripts and style sheets. */
function stillOf(answer: HTMLElement, known: ReadonlySet<string>): string {
  const still = answer.cloneNode(true) as HTMLElement;
  for (const button of still.querySelectorAll("button")) {
    const number = button.dataset.cite;
    const image = button.querySelector("img");
    if (image) button.replaceWith(image);
    else if (number === undefined) button.remove();
    else button.replaceWith(citation(button, number, known));
  }
  // An image that is not inlined, such as one of the chat's files, would be missing elsewhere.
  for (const image of still.querySelectorAll("img")) {
    if (!image.src.startsWith("data:")) image.replaceWith(image.alt);
  }
  // KaTeX renders each formula twice; the visual one needs its style sheet, the other is MathML.
  for (const drawn of still.querySelectorAll(".katex-html")) drawn.remove();
  return still.innerHTML;
}

function citation(button: HTMLElement, number: string, known: ReadonlySet<string>): HTMLElement {
  const raised = document.createElement("sup");
  if (!known.has(number)) {
    raised.textContent = `[${number}]`;
    return raised;
  }
  const link = document.createElement("a");
  link.href = `#source-${number}`;
  link.textContent = `[${number}]`;
  if (button.dataset.unverified !== undefined) link.className = "unverified";
  if (button.dataset.unconfirmed !== undefined) {
    link.className = "unconfirmed";
    link.textContent = `[${number}?]`;
    link.title = button.getAttribute("aria-description") ?? "";
  }
  raised.append(link);
  return raised;
}

function escaped(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => names[character] ?? character);
}
