// Texts from public bug reports about Markdown renderers: the files in `reported/`, and those that only repeat a piece.

const files = import.meta.glob<string>("./reported/*.md", { query: "?raw", import: "default", eager: true });

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n + 1)).join("\n");

const repeated: Record<string, string> = {
  "p-amp": "&".repeat(20_000),
  "p-br": "<br>".repeat(10_000),
  "p-colonlist": `${lines(5000, (n) => `${n}. item ${n}`)}\n`,
  "p-comb": `a${"\u0301".repeat(20_000)}`,
  "p-dollars": "$a ".repeat(10_000),
  "p-entities": "&lt;".repeat(10_000),
  "p-hashes": "#".repeat(20_000),
  "p-imgs": "![".repeat(10_000),
  "p-links": "[a](".repeat(8000),
  "p-lt": "<".repeat(20_000),
  "p-nestlist": `${lines(300, (n) => `${"  ".repeat(n - 1)}- x`)}\n`,
  "p-newlines": `${"\n".repeat(30_000)}end`,
  "p-parens": "\\(".repeat(8000),
  "p-pipes": `${"|".repeat(20_000)}\n${"|-".repeat(10_000)}`,
  "p-rows": `| a | b |\n|---|---|\n${"| 1 | 2 |\n".repeat(5000)}`,
  "p-staraspace": "*a ".repeat(10_000),
  "p-stars": "*".repeat(20_000),
  "p-ticks": `${"`".repeat(9999)} x`,
  "p-tildes": "~a".repeat(10_000),
  "p-under": "_a".repeat(10_000),
  "x-at": "a@".repeat(30_000),
  "x-b64": `data: ${"QUJD".repeat(20_000)}`,
  "x-bslash": "\\".repeat(60_000),
  "x-cjk": "的".repeat(30_000),
  "x-colon": ":".repeat(60_000),
  "x-excl20000": "!".repeat(20_000),
  "x-excl60000": "!".repeat(60_000),
  "x-https": "https://".repeat(8000),
  "x-word": "G".repeat(60_000),
  "x-words": "the ".repeat(15_000),
  "x-www": "www.".repeat(15_000),
  "x-zero": "0".repeat(60_000),
};

/** All texts by name. */
export const reported: Record<string, string> = {
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [/([^/]+)\.md$/.exec(path)?.[1], text])),
  ...Object.fromEntries(Object.entries(repeated).map(([name, text]) => [name, `${text}\n`])),
};
