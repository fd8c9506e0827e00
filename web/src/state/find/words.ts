/** The words of a message as shown: of its Markdown source, and of what is drawn. Blocks end with a line break. */
import type { Token, Tokens } from "marked";
import { lexWhole } from "../../markdown/whole.ts";

/** Stands for what has no words: formulas and buttons. */
const NO_WORDS = "\ufffc";

/** The words of a Markdown text. */
export function wordsOf(markdown: string): string {
  return lexWhole(markdown).map(blockWords).join("");
}

function blockWords(token: Token): string {
  const one = token as Tokens.Generic;
  switch (one.type) {
    case "space":
    case "def":
    case "hr":
      return "";
    case "code":
      return `${String(one.text)}\n`;
    case "plain":
      return `${one.raw}\n`;
    case "mathBlock":
      return `${NO_WORDS}\n`;
    case "list":
      return (token as Tokens.List).items.map((item) => item.tokens.map(blockWords).join("")).join("");
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows]
        .flat()
        .map((cell) => `${inlineWords(cell.tokens)}\n`)
        .join("");
    }
    case "details":
      return `${inlineWords((one.summary as Token[] | undefined) ?? [])}\n${(one.tokens ?? []).map(blockWords).join("")}`;
    case "blockquote":
    case "footnote":
      return (one.tokens ?? []).map(blockWords).join("");
    default:
      return one.tokens ? `${inlineWords(one.tokens)}\n` : inlineWords([token]);
  }
}

function inlineWords(tokens: readonly Token[]): string {
  return tokens
    .map((token) => {
      const one = token as Tokens.Generic;
      if (one.tokens && one.type !== "image") return inlineWords(one.tokens);
      switch (one.type) {
        case "text":
          return decoded(String(one.text));
        case "escape":
        case "codespan":
          return String(one.text);
        case "cite":
          return one.raw;
        case "br":
        case "lineBreak":
          return "\n";
        default:
          return NO_WORDS;
      }
    })
    .join("");
}

let decoder: HTMLTextAreaElement | undefined;

/** Entities as characters. The content of a text area is never markup. */
function decoded(text: string): string {
  if (!text.includes("&")) return text;
  decoder ??= document.createElement("textarea");
  decoder.innerHTML = text.replaceAll("<", "&lt;");
  return decoder.value;
}

/** Text nodes of what is drawn, with where each begins in `text`. */
export interface Drawn {
  text: string;
  nodes: readonly { node: Text; start: number }[];
}

/** Parts without words of the message. */
const SKIPPED = ".katex, .md-bar, .md-tools, .md-alert-title, .md-note, button, select, [hidden] .md-diagram";
const BLOCKS = /^(?:P|DIV|LI|UL|OL|TD|TH|TR|PRE|H[1-6]|BLOCKQUOTE|SUMMARY|DETAILS|TABLE)$/;

/** The words drawn in these elements. */
export function drawnIn(roots: Iterable<Element>): Drawn {
  const nodes: { node: Text; start: number }[] = [];
  let text = "";
  const walk = (parent: Node): void => {
    for (const node of parent.childNodes) {
      if (node instanceof Text) {
        nodes.push({ node, start: text.length });
        text += node.data;
      } else if (node instanceof Element) {
        if (node.matches(SKIPPED)) {
          text += NO_WORDS;
          continue;
        }
        walk(node);
        if (node.tagName === "BR" || BLOCKS.test(node.tagName)) text += "\n";
      }
    }
  };
  for (const root of roots) walk(root);
  return { text, nodes };
}

/** The range of a hit in drawn text. */
export function rangeOf({ nodes }: Drawn, start: number, end: number): Range | null {
  const at = (place: number) => {
    let low = 0;
    for (let high = nodes.length - 1; low < high;) {
      const middle = (low + high + 1) >> 1;
      if ((nodes[middle]?.start ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return nodes[low];
  };
  const first = at(start);
  const last = at(end - 1);
  if (!first || !last) return null;
  const range = document.createRange();
  range.setStart(first.node, Math.min(start - first.start, first.node.length));
  range.setEnd(last.node, Math.min(end - last.start, last.node.length));
  return range;
}
