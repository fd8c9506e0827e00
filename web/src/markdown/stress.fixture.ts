// Texts that make Markdown renderers slow, deep or wide: from public bug reports and from studying marked.

import { seeded } from "./answer.fixture";

const MARKS = [
  "*",
  "_",
  "`",
  "[",
  "]",
  "(",
  ")",
  "~",
  "<",
  ">",
  "!",
  "|",
  "$",
  "\\",
  "&",
  "a",
  " ",
  "**",
  "__",
  "\\(",
];

function mixed(chars: number): string {
  const next = seeded(7);
  let text = "";
  while (text.length < chars) text += MARKS[Math.floor(next() * MARKS.length)] ?? "";
  return text;
}

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join("\n");

const fill = (piece: string, chars = 120_000): string => piece.repeat(Math.ceil(chars / piece.length));

/** The same with a break every 3,000 characters: no word and no line is long. */
const broken = (piece: string, end: string): string => fill(fill(piece, 3000) + end);

const marks = [
  "*a_",
  "**a __b ",
  "*a **b ",
  "[",
  "![",
  "`a",
  "``a`",
  "~a",
  "~~a ",
  "<",
  "<a ",
  "!",
  "|",
  "&",
  "\\",
  "\\(",
  "\\[",
  "$a",
  "$$a",
  "[a](b",
  "[a][b",
  "[[a](b)",
  "a@",
  "www.",
  "https://",
  "a_",
  "[1]",
  "_*~`",
  "<br",
  "<b>",
  "<b>a</b>",
  "<details>",
  "<details>\n\n",
  "[^1]",
  "[^1]: ",
  "**。a",
  "\\begin{align}",
  "(",
  "](",
];

export const stress: Record<string, string> = {
  ...Object.fromEntries(marks.map((piece) => [`marks ${piece}`, fill(piece)])),
  ...Object.fromEntries(marks.map((piece) => [`paragraphs ${piece}`, broken(piece, "\n\n")])),
  ...Object.fromEntries(marks.map((piece) => [`words ${piece}`, broken(piece, " end) ")])),
  ...Object.fromEntries(marks.map((piece) => [`items ${piece}`, `- ${broken(piece, "\n")}`])),
  mixed: mixed(120_000),
  "mixed lines": mixed(120_000).replace(/(.{80})/g, "$1\n"),
  "quotes 1,000 deep": `${"> ".repeat(1000)}deep`,
  "quotes 20,000 deep": `${">".repeat(20_000)} deep`,
  "bullets 1,000 deep": `${"- ".repeat(1000)}deep`,
  "bullets 20,000 deep": `${"- ".repeat(20_000)}deep`,
  "numbers 1,000 deep": `${"1. ".repeat(1000)}deep`,
  "quotes and lists": `${"> - 1. ".repeat(500)}deep`,
  "indented lists": lines(1000, (n) => `${"  ".repeat(n)}- item ${n}`),
  "quotes that grow": lines(1000, (n) => `${"> ".repeat(n % 100)}line ${n}`),
  "lazy quotes": lines(400, (n) => (n % 2 ? "lazy" : `${"> ".repeat(40)}a`)),
  "lazy lists in quotes": lines(400, (n) => (n % 2 ? "lazy" : `${"> - ".repeat(20)}a`)),
  "brackets deep": `${"[".repeat(2000)}a${"](b)".repeat(2000)}`,
  "emphasis deep": `${"*a **b ".repeat(1000)}x${" b** a*".repeat(1000)}`,
  "formulas in one paragraph": fill("$x_{1}^{2}$ ", 60_000),
  "formulas in paragraphs": lines(5000, (n) => `Formula $x_{${n}}$ here.\n`),
  "formulas of their own": lines(1000, (n) => `$$\n\\frac{${n}}{x}\n$$\n`),
  "formula deep": `$${"\\frac{1}{".repeat(300)}x${"}".repeat(300)}$`,
  "table 20,000 columns": `|${"a|".repeat(20_000)}\n|${"-|".repeat(20_000)}\n${"|\n".repeat(2000)}`,
  "table 150 columns of empty rows": `|${"a|".repeat(150)}\n|${"-|".repeat(150)}\n${"|\n".repeat(10_000)}`,
  "table heads": lines(20_000, (n) => (n % 2 ? "-|-" : "a|b|c")),
  "table 20,000 rows": `| a | b |\n|---|---|\n${lines(20_000, (n) => `| ${n} | *b* |`)}`,
  "table long rows": `| a | b |\n|---|---|\n${lines(6, () => `| ${fill("cell ", 20_000)} | b |`)}\n`,
  "line of words": fill("word ", 500_000),
  "line without a space": fill("a", 500_000),
  "line of CJK": fill("汉字", 200_000),
  links: fill("[a](https://example.org/1) ", 400_000),
  "links in paragraphs": lines(10_000, (n) => `[a](https://example.org/${n})\n`),
  definitions: `${lines(20_000, (n) => `[d${n}]: /x${n}`)}\n\nSee [d1] and [d19999].`,
  footnotes: lines(5000, (n) => `Text[^${n}].\n\n[^${n}]: Note.\n`),
  "details nested": `${"<details><summary>a</summary>\n".repeat(90)}x${"</details>\n".repeat(90)}`,
  "details closed late": `<details>\n\n${lines(3000, (n) => `text ${n}\n`)}\n</details>\n`.repeat(3),
  "details unclosed": lines(3000, (n) => `<details><summary>${n}</summary>\n\ntext\n`),
  "footnotes that go on": lines(3000, (n) => `[^${n}]: a\nb\n\n    c`),
  "pipes in formulas": `| a | b |\n|---|---|\n${"| $|x|$ | $|$ | |\n".repeat(3000)}`,
  headings: lines(10_000, (n) => `# heading ${n}`),
  setext: lines(10_000, (n) => `heading ${n}\n===`),
  rules: fill("- ", 60_000),
  breaks: lines(20_000, () => "a  "),
  blanks: fill(" ", 120_000),
  "blank lines": fill("\n", 120_000),
  "code of 1 MB": `\`\`\`js\n${lines(25_000, (n) => `const x${n} = "some code here";`)}\n\`\`\`\n`,
  "code in one line": `\`\`\`js\n${fill("const x = { a: [1, 2] };", 400_000)}\n\`\`\`\n`,
  "code blocks": lines(3000, (n) => `\`\`\`js\nlet a = ${n};\n\`\`\`\n`),
  "code in a list": `1. Item\n\n   \`\`\`js\n${lines(2000, (n) => `   let a = ${n};`)}\n   \`\`\`\n`,
};
