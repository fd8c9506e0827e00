// Deterministic long answers for tests and benchmarks: prose in two languages, tables, lists, code, maths.

/** Seeded random number generator with values from 0 to 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const ENGLISH =
  "the harbour office keeps a ledger of every ship and its cargo while clerks compare weights dates and seals before the tide turns so that nothing leaves unpaid or unseen by the keeper of records".split(
    " ",
  );
const RUSSIAN =
  "портовая контора ведёт книгу каждого судна и груза пока писари сверяют вес даты и печати до отлива чтобы ничто не ушло неоплаченным".split(
    " ",
  );
const LANGUAGES = ["rust", "typescript", "python", "json", "bash", "sql"];

export type AnswerKind = "mixed" | "code" | "paragraph" | "table" | "list" | "nested" | "quote";

class Writer {
  readonly #next: () => number;
  constructor(seed: number) {
    this.#next = seeded(seed);
  }
  number(below: number): number {
    return Math.floor(this.#next() * below);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.number(list.length)] as T;
  }
  words(count: number, from: readonly string[] = ENGLISH): string {
    return Array.from({ length: count }, () => this.#word(this.pick(from))).join(" ");
  }
  #word(word: string): string {
    const kind = this.number(100);
    if (kind < 4) return `**${word}**`;
    if (kind < 6) return `\`${word}_${kind}\``;
    if (kind < 8) return `*${word}*`;
    if (kind === 8) return `[${word}](https://example.org/${this.number(90)})`;
    if (kind === 9) return `${word} [${1 + this.number(9)}]`;
    if (kind === 10) return `$${word.slice(0, 1)}_{${this.number(9)}}^2 + \\beta$`;
    return word;
  }
  sentence(from: readonly string[] = ENGLISH): string {
    return this.words(8 + this.number(12), from) + ". ";
  }
  paragraph(from: readonly string[] = ENGLISH): string {
    return Array.from({ length: 3 + this.number(4) }, () => this.sentence(from))
      .join("")
      .trim();
  }
  codeLine(i: number): string {
    const [a, b] = [this.pick(ENGLISH), this.pick(ENGLISH)];
    return this.pick([
      `let ${a}_${i} = ${b}(${i}, "${a} of ${b}"); // ${this.words(4)}`,
      `    if ${a} > ${i} { return ${b}; }`,
      `fn ${a}_${i}(${b}: u32) -> bool { ${b} != ${i} }`,
      ``,
      `    total += ${a}[${i % 7}] * 0.${i};`,
    ]);
  }
  code(lines: number, lang: string): string {
    return (
      "```" + lang + "\n" + Array.from({ length: lines }, (_, i) => this.codeLine(i)).join("\n") + "\n```"
    );
  }
  tableRow(i: number): string {
    return `| ${i} | \`${this.pick(ENGLISH)}\` | ${this.number(999)} | ${this.words(5)} |`;
  }
  table(rows: number): string {
    const head = "| no | berth | weight | remark |\n|---:|:--|--:|---|\n";
    return head + Array.from({ length: rows }, (_, i) => this.tableRow(i + 1)).join("\n");
  }
  list(items: number): string {
    return Array.from({ length: items }, () => (this.number(4) ? "- " : "  - ") + this.words(9))
      .join("\n")
      .trim();
  }
  block(i: number): string {
    const kind = this.number(100);
    if (i % 8 === 0) return `## Part ${i}: ${this.words(3)}`;
    if (kind < 45) return this.paragraph();
    if (kind < 60) return this.paragraph(RUSSIAN);
    if (kind < 72) return this.list(3 + this.number(7));
    if (kind < 80) return this.table(4 + this.number(14));
    if (kind < 90) return this.code(5 + this.number(25), this.pick(LANGUAGES));
    if (kind < 94) return `$$\n\\sum_{i=0}^{${i}} \\frac{x_i^2}{\\sqrt{1+${i}}} = \\int_0^1 f(t)\\,dt\n$$`;
    if (kind < 97) return `> ${this.sentence()}`;
    return `1. ${this.words(6)}\n2. ${this.words(6)}\n3. ${this.words(6)}`;
  }
}

/** About `chars` characters of markdown; the same arguments always give the same text. */
export function answer(chars: number, kind: AnswerKind = "mixed", seed = 1): string {
  const writer = new Writer(seed);
  const parts: string[] = [];
  let length = 0;
  const add = (part: string): void => {
    parts.push(part);
    length += part.length;
  };
  for (let i = 0; length < chars; i++) {
    if (kind === "mixed")
      add((length > 0 ? "\n\n" : "") + (i === 40 ? writer.code(220, "rust") : writer.block(i)));
    else if (kind === "paragraph") add(writer.sentence());
    else if (kind === "list") add(`- ${writer.words(12)}\n`);
    else if (kind === "nested") add(i === 0 ? "- top\n" : `  - ${writer.words(12)}\n`);
    else if (kind === "quote") add(`> ${writer.paragraph()}\n>\n`);
    else if (kind === "table") add(i === 0 ? writer.table(1) + "\n" : writer.tableRow(i + 1) + "\n");
    else add(i === 0 ? "```rust\n" : writer.codeLine(i) + "\n");
  }
  if (kind === "code") add("```\n");
  return parts.join("");
}

/** Splits text into pieces of 3 to 5 characters, like model tokens. */
export function tokenPieces(text: string, seed = 1): string[] {
  const next = seeded(seed);
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 3 + Math.floor(next() * 3);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}
