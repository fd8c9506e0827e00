// Takes code and tables out of rendered text: file names, CSV and Markdown. Loaded when first needed.
import { saveFile } from "../save-file.ts";

/** Extensions of languages that differ from their names. */
const extensions = new Map([
  ["bash", "sh"],
  ["shell", "sh"],
  ["zsh", "sh"],
  ["console", "sh"],
  ["powershell", "ps1"],
  ["batch", "bat"],
  ["python", "py"],
  ["javascript", "js"],
  ["typescript", "ts"],
  ["ruby", "rb"],
  ["rust", "rs"],
  ["kotlin", "kt"],
  ["perl", "pl"],
  ["golang", "go"],
  ["csharp", "cs"],
  ["c#", "cs"],
  ["c++", "cpp"],
  ["objective-c", "m"],
  ["fsharp", "fs"],
  ["haskell", "hs"],
  ["markdown", "md"],
  ["yaml", "yml"],
  ["latex", "tex"],
  ["text", "txt"],
  ["plaintext", "txt"],
  ["elixir", "ex"],
  ["erlang", "erl"],
  ["mermaid", "mmd"],
  ["matlab", "m"],
  ["julia", "jl"],
  ["clojure", "clj"],
  ["ocaml", "ml"],
]);

/** `code.py` for `python`; a language that is not listed is its own extension. */
export function codeFileName(lang: string): string {
  if (/^(docker|make)file$/.test(lang)) return `${lang.slice(0, 1).toUpperCase()}${lang.slice(1)}`;
  const extension = extensions.get(lang) ?? (/^[a-z0-9]{1,10}$/.test(lang) ? lang : "txt");
  return `code.${extension}`;
}

/** Downloads the code of the block that contains `inside`. */
export function saveCode(inside: Element): void {
  const block = inside.closest(".md-code");
  const text = block?.querySelector("code")?.textContent ?? "";
  const lang = block?.querySelector(".md-bar span")?.textContent ?? "";
  saveFile(codeFileName(lang), new Blob([text], { type: "text/plain" }));
}

type CellFormat = (cell: Element) => string;

/** A long table is a stack of tables, each with a copy of the head. */
function rowsOf(root: Element, format: CellFormat): string[][] {
  const head = root.querySelector("thead tr");
  const rows = [...(head ? [head] : []), ...root.querySelectorAll("tbody tr")];
  return rows.map((row) => [...row.children].map((cell) => format(cell).trim()));
}

/** Cells that a spreadsheet would calculate rather than show. */
const isCalculated = (cell: string) => /^[=@]/.test(cell) || (/^[+-]/.test(cell) && /[(!|]/.test(cell));

/** The tables of `root` as CSV (RFC 4180). What would be calculated gets an apostrophe, which makes it text. */
export function asCsv(root: Element): string {
  const field = (cell: string) => {
    const text = isCalculated(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rowsOf(root, plainText)
    .map((row) => `${row.map(field).join(",")}\r\n`)
    .join("");
}

/** The tables of `root` as a Markdown table. */
export function asMarkdown(root: Element): string {
  const marks = new Map([
    ["right", "---:"],
    ["center", ":---:"],
  ]);
  const [head = [], ...rows] = rowsOf(root, markdownText);
  const aligned = [...(root.querySelector("thead tr")?.children ?? [])].map(
    (cell) => marks.get(cell.getAttribute("align") ?? "") ?? "---",
  );
  return [head, aligned, ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

/** What stands for an element without its content; `undefined` if its content does. */
function replaced(element: Element): string | undefined {
  const { dataset } = element as HTMLElement;
  if (dataset.cite !== undefined) return `[${dataset.cite}]`;
  if (dataset.src !== undefined) return dataset.alt ?? "";
  return element instanceof HTMLImageElement ? element.alt : undefined;
}

function plainText(node: Node): string {
  if (!(node instanceof Element)) return node.textContent ?? "";
  if (node.tagName === "BR") return "\n";
  return replaced(node) ?? (node as HTMLElement).dataset.tex ?? [...node.childNodes].map(plainText).join("");
}

const emphasis = new Map([
  ["STRONG", "**"],
  ["EM", "*"],
  ["DEL", "~~"],
]);

function markdownText(node: Node): string {
  if (!(node instanceof Element)) return (node.textContent ?? "").replace(/[\\`*|<[\]]/g, "\\$&");
  const known = replaced(node);
  if (known !== undefined) return known;
  const { tex } = (node as HTMLElement).dataset;
  if (tex !== undefined) return `$${tex.replaceAll("|", "\\|")}$`;
  if (node.tagName === "BR") return "<br>";
  if (node.tagName === "CODE") return quotedCode(node.textContent);
  const inside = [...node.childNodes].map(markdownText).join("");
  if (node instanceof HTMLAnchorElement) return `[${inside}](${node.getAttribute("href") ?? ""})`;
  const mark = emphasis.get(node.tagName) ?? "";
  return mark + inside + mark;
}

function quotedCode(code: string): string {
  const text = code.replaceAll("|", "\\|");
  return text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``;
}
