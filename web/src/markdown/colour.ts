// Highlights code with highlight.js. Runs in the worker, so that a slow grammar cannot block the page.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(["svelte", "vue"], { languageName: "xml" });
hljs.registerAliases(["shell", "console", "shellsession"], { languageName: "bash" });

/** Highlights `chunks` as one text and returns the HTML of each; undefined for an unknown language. */
export function colourChunks(lang: string, chunks: readonly string[]): string[] | undefined {
  if (!hljs.getLanguage(lang)) return undefined;
  const { value } = hljs.highlight(chunks.join(""), { language: lang, ignoreIllegals: true });
  return splitLines(
    value,
    chunks.map((chunk) => chunk.split("\n").length - 1),
  );
}

/** Splits highlighted HTML after the given numbers of lines; spans open at a split are closed and reopened. */
function splitLines(html: string, counts: readonly number[]): string[] {
  const pieces: string[] = [];
  const open: string[] = [];
  let piece = "";
  let lines = 0;
  for (const [part] of html.matchAll(/<[^>]*>|\n|[^<\n]+/g)) {
    piece += part;
    if (part.startsWith("</")) open.pop();
    else if (part.startsWith("<")) open.push(part);
    else if (part === "\n" && pieces.length < counts.length - 1 && ++lines === counts[pieces.length]) {
      pieces.push(piece + "</span>".repeat(open.length));
      piece = open.join("");
      lines = 0;
    }
  }
  pieces.push(piece);
  return pieces;
}
