/** Report export as a web page and as Markdown. */
import { expect, test } from "vitest";
import type { Source } from "../../api/events.ts";
import { asMarkdown } from "./markdown.ts";
import { asPage } from "./page.ts";
import type { UnconfirmedMarks } from "../unconfirmed.ts";

const source = (id: string, more: Partial<Source> = {}): Source => ({
  id,
  title: `Page ${id}`,
  url: `https://a.example/${id}`,
  ...more,
});
const words = {
  heading: "Sources",
  unverified: "Not verified.",
  unconfirmed: {
    number: "No such number.",
    negation: "Negated.",
    name: "No such name.",
    quotation: "Quoted.",
  },
};
const report = (text: string, sources: Source[], title = "", unconfirmed: UnconfirmedMarks = new Map()) => ({
  title,
  text,
  sources,
  unconfirmed,
  words,
});

function answer(html: string): HTMLElement {
  const element = document.createElement("div");
  element.innerHTML = html;
  return element;
}

test("an export has what is cited, and nothing in it runs", () => {
  const sources = [source("1", { quote: "so it is", title: "<script>" }), source("2")];
  expect(asMarkdown(report("It is [1].", sources))).toBe(
    "It is [1].\n\n## Sources\n\n- [1] <script> <https://a.example/1>\n    > so it is\n",
  );
  const page = asPage(report("It is [1].", sources, "<b>"), answer("<p>It is</p>"));
  expect(page).toContain("&lt;script&gt;");
  expect(page).toContain("<title>&lt;b&gt;</title>");
  expect(page).not.toContain("Page 2");
});

test("a source that no quote shows says so", () => {
  const sources = [source("1", { quote: "so it is", verified: true }), source("2", { verified: false })];
  const text = "It is [1], and sings [2].";
  expect(asMarkdown(report(text, sources)).split("Not verified.")).toHaveLength(2);
  expect(asPage(report(text, sources), answer("")).split("Not verified.")).toHaveLength(2);
});

test("images that are in the page stay, and of the others their words", () => {
  const drawn = "data:image/svg+xml,%3Csvg%2F%3E";
  const shown = answer(
    `<div class="md-diagram"><img src="${drawn}" alt="Diagram"></div><img src="blob:x" alt="A chart">`,
  );
  const page = asPage(report("", []), shown);
  const made = new DOMParser().parseFromString(page, "text/html");
  expect([...made.querySelectorAll("img")].map((image) => image.getAttribute("src"))).toEqual([drawn]);
  expect(made.body.textContent).toContain("A chart");
  expect(page).toContain("img-src data:");
});

test("in the page, citations lead to their sources, and nothing is left of what only the app can do", () => {
  const shown = answer(
    '<p>It is <button data-cite="1">1</button>, sings <button data-cite="2" data-unverified="">2</button>, flies ' +
      '<button data-cite="1" data-unconfirmed="number" aria-description="Not confirmed.">1</button>.</p>' +
      '<div><span>rust</span><button data-copy="">Copy</button></div>' +
      '<span class="katex"><math><mi>E</mi></math><span class="katex-html">E</span></span>',
  );
  const sources = [source("1"), source("2", { verified: false, url: "/knowledge/c/d" })];
  const page = asPage(report("It is [1], sings [2].", sources), shown);
  const made = new DOMParser().parseFromString(page, "text/html");
  const cited = [...made.querySelectorAll<HTMLAnchorElement>("sup a")];
  expect(cited.map((link) => link.getAttribute("href"))).toEqual(["#source-1", "#source-2", "#source-1"]);
  for (const link of cited) expect(made.querySelector(link.hash)?.tagName).toBe("LI");
  expect(cited.map(({ className }) => className)).toEqual(["", "unverified", "unconfirmed"]);
  expect([cited[2]?.textContent, cited[2]?.title]).toEqual(["[1?]", "Not confirmed."]);
  expect(made.querySelectorAll("button")).toHaveLength(0);
  expect(made.querySelector(".katex")?.textContent).toBe("E");
  expect([...made.querySelectorAll("li a")].map(({ textContent }) => textContent)).toEqual([
    "https://a.example/1",
  ]);
  // The displayed answer is unchanged.
  expect(shown.querySelectorAll("button")).toHaveLength(4);
});

test("a sentence that its quote does not confirm is marked, and the source says why", () => {
  const sources = [source("1", { quote: "It has 7 floors.", verified: true }), source("2", { quote: "x" })];
  const text = "It has seven floors [1], 8 windows [1][2].";
  const unconfirmed: UnconfirmedMarks = new Map([["1", [undefined, "number"]]]);
  const exported = report(text, sources, "", unconfirmed);
  const markdown = asMarkdown(exported);
  expect(markdown).toContain("It has seven floors [1], 8 windows [1?][2].\n");
  expect(markdown).toContain("> It has 7 floors.\n    *[1?] No such number.*\n- [2]");
  const page = asPage(exported, answer(""));
  expect(page).toContain("<br><small>[1?] No such number.</small></li>");
});
