// Formulas that would take long to lay out become MathML or stay source; counted in tags, never in time.

import { expect, test } from "vitest";
import { formulaHtml } from "./formula-html";
import { reported } from "./reported.fixture";

const typeset = (tex: string) => formulaHtml({ tex, display: true });
const tagsOf = (html: string) => html.split("<").length - 1;
const reportedTex = (name: string) => /\$\$([^]*?)\$\$/.exec(reported[name] ?? "")?.[1] ?? "";

test("an ordinary formula is HTML, with MathML for screen readers", () => {
  const html = typeset("\\frac{a}{b}");
  expect(html).toContain("katex-html");
  expect(html).toContain("<math");
});

test.each([
  ["math-matrix", reportedTex("math-matrix")],
  ["q-expand", reportedTex("q-expand")],
  ["q-expand2", reportedTex("q-expand2")],
  ["many signs", "\\neq ".repeat(1000)],
  ["deep fractions", `${"\\frac{1}{".repeat(100)}x${"}".repeat(100)}`],
])("%s: MathML alone", (_, tex) => {
  const html = typeset(tex);
  expect(html).toContain("<math");
  expect(html).not.toContain("katex-html");
  expect(tagsOf(html)).toBeLessThan(4000);
});

test.each([
  ["too many letters", "x".repeat(6000)],
  ["macros that multiply", `\\def\\a{${"x".repeat(100)}}${"\\a".repeat(100)}`],
  ["endless macros", "\\def\\a{\\a\\a}\\a"],
  ["not TeX", "\\frac{"],
])("%s: source", (_, tex) => {
  expect(typeset(tex)).toBe("");
});
