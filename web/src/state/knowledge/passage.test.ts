/** Passages in the runs of a PDF page and in the texts of rendered Markdown. */
import { describe, expect, test } from "vitest";
import { findPassage, lettersOf, shownOfMarkdown } from "./passage.ts";

/** The parts of the pieces that are marked. */
const marked = (pieces: readonly string[], passage: string, near = 0) =>
  findPassage(pieces, passage, near)?.map(({ piece, start, end }) => pieces[piece]?.slice(start, end)) ??
  null;

describe("the passage as a whole", () => {
  test.each([
    [
      "with a sign of its own",
      ["sings at ", "night", ". ", "It is", " loud"],
      "at night. It is loud",
      ["at ", "night", ". ", "It is", " loud"],
    ],
    ["in quotation marks", ["He said “it is late” to us."], "“it is late”", ["“it is late”"]],
    ["within one run", ["Fees are due on Monday, always."], "due on Monday", ["due on Monday"]],
    [
      "across runs and their spaces",
      ["The fee is", " ", "400 euros", "a year."],
      "fee is 400 euros a",
      ["fee is", "400 euros", "a"],
    ],
    [
      "hyphenated at the end of a line",
      ["The imple-", "mentation is done"],
      "implementation is",
      ["imple-", "mentation is"],
    ],
    ["with soft hyphens", ["Imple\u00admentation"], "implementation", ["Imple\u00admentation"]],
    ["with ligatures", ["the ﬁrst oﬃce of the staﬀ"], "first office of", ["ﬁrst oﬃce of"]],
    ["where only the passage has ligatures", ["the first office"], "ﬁrst oﬃce", ["first office"]],
    ["with accents written apart", ["Cafe\u0301 cre\u0300me"], "café crème", ["Cafe\u0301 cre\u0300me"]],
    ["in full width", ["Ｆｅｅ：４００"], "fee: 400", ["Ｆｅｅ：４００"]],
    [
      "in Russian",
      ["Арендатор вправе рас-", "торгнуть договор"],
      "вправе расторгнуть",
      ["вправе рас-", "торгнуть"],
    ],
    ["in Greek", ["ΟΔΥΣΣΕΥΣ"], "Οδυσσεύς", ["ΟΔΥΣΣΕΥΣ"]],
    ["in Chinese", ["租赁合同的", "期限为三年。"], "合同的期限", ["合同的", "期限"]],
    ["beyond the first plane", ["😀 𝐛𝐨𝐥𝐝 text"], "bold text", ["𝐛𝐨𝐥𝐝 text"]],
  ])("%s", (_, pieces, passage, expected) => {
    expect(marked(pieces, passage)).toEqual(expected);
  });

  test("in Arabic: presentation forms, vowel marks and stretched letters are the same letters", () => {
    expect(marked(["العقد مدته", "ثلاث سنوات"], "الْعَقْدُ مُدَّتُهُ ثلاث")).toEqual(["العقد مدته", "ثلاث"]);
    expect(marked(["ﺍﻟﻌﻘﺪ"], "العقد")).toEqual(["ﺍﻟﻌﻘﺪ"]);
    expect(marked(["العـــقد"], "العقد")).toEqual(["العـــقد"]);
  });
});

describe("the passage in parts", () => {
  test("the columns of a page are interleaved", () => {
    const lines = [
      "The tenant pays the rent in ad-",
      "Notice is given in writing and",
      "vance on the first day of a month.",
      "reaches the landlord by post.",
    ];
    const passage = "The tenant pays the rent in advance on the first day of a month.";
    expect(marked(lines, passage)).toEqual([
      "The tenant pays the rent in ad",
      "vance on the first day of a month.",
    ]);
  });

  test("a running title stands between", () => {
    const lines = ["Payments are final and", "ANNUAL REPORT 2024 — 7", "cannot be taken back by anyone."];
    expect(marked(lines, "Payments are final and cannot be taken back by anyone.")).toEqual([
      "Payments are final and",
      "cannot be taken back by anyone.",
    ]);
  });

  test("words of an Arabic line come in the order of their boxes", () => {
    const boxes = ["مدة العقد ثلاث سنوات ميلادية", "تبدأ من تاريخ التوقيع عليه"];
    const passage = "تبدأ من تاريخ التوقيع عليه مدة العقد ثلاث سنوات ميلادية";
    expect(marked(boxes, passage)).toEqual(boxes);
  });

  test("too little of it is there", () => {
    const lines = ["Payments are final and binding.", "Nothing else is here."];
    expect(marked(lines, `Payments are final and ${"was never printed on this page ".repeat(3)}`)).toBeNull();
  });
});

test("what is not there is not found, nor is a passage without letters", () => {
  expect(marked(["The fee is 400 euros."], "The fee is 401 euros.")).toBeNull();
  expect(marked(["a — b"], "—")).toBeNull();
  expect(marked([], "text")).toBeNull();
});

test("of several places the nearest is taken", () => {
  const rows = ["Total", "12", "Total", "15", "Total", "19"];
  expect(findPassage(rows, "Total", 0)).toEqual([{ piece: 0, start: 0, end: 5 }]);
  expect(findPassage(rows, "Total", 8)).toEqual([{ piece: 2, start: 0, end: 5 }]);
  expect(findPassage(rows, "Total", 99)).toEqual([{ piece: 4, start: 0, end: 5 }]);
});

test("a long page and a long passage that differ throughout take no long search", () => {
  const page = Array.from({ length: 40_000 }, (_, line) => `line ${line}`);
  expect(findPassage(page, "quite different words ".repeat(2000))).toBeNull();
});

describe("Markdown as it is shown", () => {
  test.each([
    ["**Fees** are _due_ on `Monday`.", "fees are due on monday"],
    ["| Year | Sum |\n| --- | ---: |\n| 2024 | 12,500 |", "year sum 2024 12 500"],
    ['See [the terms](https://example.com/a(b)c "Terms") first.', "see the terms first"],
    ["3. Third\n> 4) Fourth\n2024 was good", "third fourth 2024 was good"],
    ["```python\nx = 1\n```", "x 1"],
    ["10<sup>6</sup> &amp; more", "10 6 more"],
  ])("%s", (source, expected) => {
    expect(lettersOf(shownOfMarkdown(source))).toBe(lettersOf(expected));
  });
});
