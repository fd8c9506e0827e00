/** Tables as CSV and Markdown, and file names of code. */
import { expect, test } from "vitest";
import { asCsv, asMarkdown, codeFileName } from "./take";

function table(head: string, ...rows: string[]): Element {
  const root = document.createElement("div");
  const body = rows.map((row) => `<tr>${row}</tr>`).join("");
  root.innerHTML = `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
  return root;
}

const rich = table(
  `<th>Name</th><th align="right">Price</th><th align="center">Note</th>`,
  `<td>A, <strong>B</strong></td><td align="right">-1.5</td><td>says "no"</td>`,
  `<td><a href="https://x.example/?a=1">link</a><br><code>a|b</code></td><td></td><td>` +
    `<span data-tex="x^2"><math>x2</math><span>x2</span></span> <button data-cite="3">3</button></td>`,
);

test("CSV quotes commas, quotes and line breaks, and has the text of markup", () => {
  expect(asCsv(rich)).toBe(`Name,Price,Note\r\n"A, B",-1.5,"says ""no"""\r\n"link\na|b",,x^2 [3]\r\n`);
});

test("CSV keeps numbers, and makes text of what a spreadsheet would calculate", () => {
  const cells = ["=1+1", "@SUM(A1)", "-2+cmd|x!A0", "-5", "+3,5", "- a point"];
  const root = table("<th>a</th>", ...cells.map((cell) => `<td>${cell}</td>`));
  expect(asCsv(root).split("\r\n").slice(1, -1)).toEqual([
    "'=1+1",
    "'@SUM(A1)",
    "'-2+cmd|x!A0",
    "-5",
    `"+3,5"`,
    "- a point",
  ]);
});

test("the head of a stacked table is taken once", () => {
  const root = document.createElement("div");
  root.innerHTML = table("<th>a</th>", "<td>1</td>").innerHTML + table("<th>a</th>", "<td>2</td>").innerHTML;
  expect(asCsv(root)).toBe("a\r\n1\r\n2\r\n");
});

test("Markdown keeps alignment and marks, and escapes what would be one", () => {
  expect(asMarkdown(rich)).toBe(
    "| Name | Price | Note |\n| --- | ---: | :---: |\n" +
      `| A, **B** | -1.5 | says "no" |\n` +
      "| [link](https://x.example/?a=1)<br>`a\\|b` |  | $x^2$ [3] |\n",
  );
  expect(asMarkdown(table("<th>a|b</th>", "<td>2*3 `x`</td>"))).toBe(
    "| a\\|b |\n| --- |\n| 2\\*3 \\`x\\` |\n",
  );
});

test.each([
  ["python", "code.py"],
  ["rust", "code.rs"],
  ["json", "code.json"],
  ["c++", "code.cpp"],
  ["", "code.txt"],
  ["../../x", "code.txt"],
  ["dockerfile", "Dockerfile"],
])("code in %j is saved as %s", (lang, name) => {
  expect(codeFileName(lang)).toBe(name);
});
