/** Converts a Markdown report to a Word document, with its citations as links to the list of sources. */
import {
  AlignmentType,
  Bookmark,
  BorderStyle,
  Document,
  ExternalHyperlink,
  HeadingLevel,
  InternalHyperlink,
  LevelFormat,
  Packer,
  Paragraph,
  Table,
  TableCell,
  TableRow,
  TextRun,
  WidthType,
  type IParagraphOptions,
  type IRunOptions,
  type ParagraphChild,
} from "docx";
import type { Token, Tokens } from "marked";
import type { Source } from "../../api/events.ts";
import { safeHref } from "../../markdown/syntax.ts";
import { lexWhole } from "../../markdown/whole.ts";
import { citedOf, quoteOf } from "../sources.ts";
import type { UnconfirmedMarks } from "../unconfirmed.ts";
import { doubtsOf, type Report } from "./words.ts";

type Block = Paragraph | Table;
/** Deeper levels are not indented further; Word has nine list levels. */
const maxDepth = 8;
const headings = [
  HeadingLevel.HEADING_1,
  HeadingLevel.HEADING_2,
  HeadingLevel.HEADING_3,
  HeadingLevel.HEADING_4,
  HeadingLevel.HEADING_5,
  HeadingLevel.HEADING_6,
];
const mono = "Courier New";

/** Characters not allowed in XML. */
const unfit =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const clean = (text: string) => text.replace(unfit, "");

/** Returns a `.docx` file. */
export async function asWord(report: Report): Promise<Blob> {
  const { title, text, sources, words } = report;
  const list = citedOf(text, sources);
  const writer = new Writer(new Set(list.map(({ id }) => id)), report.unconfirmed);
  const content = writer.blocks(lexWhole(text), 0);
  const end =
    list.length === 0
      ? []
      : [heading2(words.heading), ...list.flatMap((source) => sourceLines(source, report))];
  const lists = [...writer.lists].map(([reference, start]) => ({ reference, levels: levels(start) }));
  return Packer.toBlob(
    new Document({
      title: clean(title),
      creator: "Glasshouse",
      styles: { default: { document: { run: { font: "Calibri", size: 22 } } } },
      numbering: { config: lists },
      sections: [{ children: [...content, ...end] }],
    }),
  );
}

const heading2 = (text: string) =>
  new Paragraph({ heading: HeadingLevel.HEADING_2, children: [new TextRun(clean(text))] });

function levels(start: number) {
  return Array.from({ length: maxDepth + 1 }, (_, level) => ({
    level,
    format: LevelFormat.DECIMAL,
    text: `%${level + 1}.`,
    start: level === 0 ? start : 1,
    alignment: AlignmentType.START,
    style: { paragraph: { indent: { left: 720 * (level + 1), hanging: 360 } } },
  }));
}

function sourceLines(source: Source, report: Report): Paragraph[] {
  const { id, title, url } = source;
  const quote = quoteOf(source);
  const name = new Bookmark({ id: `source-${id}`, children: [new TextRun(`[${id}] `)] });
  const address = /^https?:\/\//.test(url)
    ? new ExternalHyperlink({ link: url, children: [new TextRun({ text: clean(url), style: "Hyperlink" })] })
    : new TextRun(clean(url));
  const line = new Paragraph({ children: [name, new TextRun(`${clean(title)} `), address] });
  const below = (run: IRunOptions) => new Paragraph({ indent: { left: 720 }, children: [new TextRun(run)] });
  return [
    line,
    ...(quote ? [below({ text: clean(quote), italics: true })] : []),
    ...doubtsOf(source, report).map((doubt) => below({ text: clean(doubt), color: "A02020" })),
  ];
}

/** Tags with a counterpart in Word. */
const TAGS: Record<string, IRunOptions> = {
  sub: { subScript: true },
  sup: { superScript: true },
  b: { bold: true },
  strong: { bold: true },
  i: { italics: true },
  em: { italics: true },
  s: { strike: true },
  del: { strike: true },
  u: { underline: {} },
  ins: { underline: {} },
  mark: { highlight: "yellow" },
};

class Writer {
  /** Each numbered list has its own counter: reference names and start numbers. */
  readonly lists = new Map<string, number>();
  readonly #known: Set<string>;
  readonly #unconfirmed: UnconfirmedMarks;
  /** How often each number has been cited so far. */
  readonly #cited = new Map<string, number>();

  constructor(knownSources: Set<string>, unconfirmed: UnconfirmedMarks) {
    this.#known = knownSources;
    this.#unconfirmed = unconfirmed;
  }

  blocks(tokens: Token[], level: number, within: IParagraphOptions = {}): Block[] {
    return tokens.flatMap((token) => this.#block(token as Tokens.Generic, level, within));
  }

  #block(token: Tokens.Generic, level: number, within: IParagraphOptions): Block[] {
    switch (token.type) {
      case "space":
        return [];
      case "heading":
        return [
          new Paragraph({
            heading:
              headings[Math.min((token as unknown as Tokens.Heading).depth, 6) - 1] ?? HeadingLevel.HEADING_6,
            children: this.#inline(token.tokens ?? [], {}),
          }),
        ];
      case "code":
        return [this.#code((token as unknown as Tokens.Code).text, within)];
      case "plain":
        return token.raw
          .trim()
          .split("\n")
          .map((line) => new Paragraph({ ...within, children: [new TextRun(clean(line))] }));
      case "blockquote":
        return this.blocks(token.tokens ?? [], level, { ...within, indent: { left: 720 } });
      case "hr":
        return [
          new Paragraph({ border: { bottom: { style: BorderStyle.SINGLE, size: 6, color: "999999" } } }),
        ];
      case "list":
        return this.#list(token as unknown as Tokens.List, level);
      case "table":
        return [this.#table(token as unknown as Tokens.Table)];
      case "mathBlock":
        return [new Paragraph({ ...within, children: [this.#formula(token)] })];
      case "details":
        return [
          new Paragraph({ ...within, children: this.#inline(token.summary as Token[], { bold: true }) }),
          ...this.blocks(token.tokens ?? [], level, within),
        ];
      case "footnote":
        return [
          new Paragraph({
            ...within,
            children: [new TextRun({ text: clean(String(token.name)), superScript: true })],
          }),
          ...this.blocks(token.tokens ?? [], level, within),
        ];
      default:
        return [
          new Paragraph({
            spacing: { after: 120 },
            ...within,
            children: token.tokens ? this.#inline(token.tokens, {}) : [new TextRun(clean(token.raw))],
          }),
        ];
    }
  }

  #list(list: Tokens.List, level: number): Block[] {
    const at = Math.min(level, maxDepth);
    const reference = `list-${this.lists.size}`;
    if (list.ordered) this.lists.set(reference, Number(list.start) || 1);
    const mark: IParagraphOptions = list.ordered
      ? { numbering: { reference, level: at } }
      : { bullet: { level: at } };
    return list.items.flatMap((item) => {
      let isFirst = true;
      return item.tokens.flatMap((token) => {
        if (token.type === "list") return this.#list(token as Tokens.List, level + 1);
        const blocks = this.#block(
          token as Tokens.Generic,
          level + 1,
          isFirst ? mark : { indent: { left: 720 * (at + 1) } },
        );
        isFirst = false;
        return blocks;
      });
    });
  }

  #code(text: string, within: IParagraphOptions): Paragraph {
    const lines = text.split("\n").map((line, index) => {
      return new TextRun({ text: clean(line), font: mono, size: 19, ...(index > 0 ? { break: 1 } : {}) });
    });
    return new Paragraph({
      ...within,
      shading: { fill: "F2F3F5" },
      spacing: { after: 120 },
      children: lines,
    });
  }

  #table({ header, rows }: Tokens.Table): Table {
    const cell = ({ tokens }: Tokens.TableCell, run: IRunOptions) =>
      new TableCell({
        margins: { top: 40, bottom: 40, left: 90, right: 90 },
        children: [new Paragraph({ children: this.#inline(tokens, run) })],
      });
    const row = (cells: Tokens.TableCell[], isHead: boolean) =>
      new TableRow({
        tableHeader: isHead,
        children: cells.map((one) => cell(one, isHead ? { bold: true } : {})),
      });
    return new Table({
      width: { size: 100, type: WidthType.PERCENTAGE },
      rows: [row(header, true), ...rows.map((cells) => row(cells, false))],
    });
  }

  #formula(token: Tokens.Generic): TextRun {
    return new TextRun({ text: clean(String(token.tex ?? token.raw)), font: "Cambria Math", italics: true });
  }

  #inline(tokens: Token[], run: IRunOptions): ParagraphChild[] {
    return (tokens as Tokens.Generic[]).flatMap((token) => {
      const within = (more: IRunOptions) => this.#inline(token.tokens ?? [], { ...run, ...more });
      switch (token.type) {
        case "strong":
          return within({ bold: true });
        case "em":
          return within({ italics: true });
        case "del":
          return within({ strike: true });
        case "tag":
          return within(TAGS[String(token.tag)] ?? {});
        case "footnoteReference":
          return [new TextRun({ ...run, text: clean(String(token.name)), superScript: true })];
        case "codespan":
          return [
            new TextRun({ ...run, text: clean((token as unknown as Tokens.Codespan).text), font: mono }),
          ];
        case "br":
        case "lineBreak":
          return [new TextRun({ break: 1 })];
        case "cite":
          return this.#cite(String(token.number), run);
        case "mathInline":
        case "mathBlock":
          return [this.#formula(token)];
        case "link": {
          const link = safeHref((token as unknown as Tokens.Link).href);
          return link === undefined
            ? within({})
            : [new ExternalHyperlink({ link, children: within({ style: "Hyperlink" }) })];
        }
        case "image":
          return [new TextRun({ ...run, text: clean((token as unknown as Tokens.Image).text) })];
        default:
          if (token.tokens) return within({});
          return [new TextRun({ ...run, text: clean(String(token.text ?? token.raw)) })];
      }
    });
  }

  /** A number without a source is text. */
  #cite(number: string, run: IRunOptions): ParagraphChild[] {
    if (!this.#known.has(number)) return [new TextRun({ ...run, text: `[${number}]` })];
    const count = this.#cited.get(number) ?? 0;
    this.#cited.set(number, count + 1);
    const doubt = this.#unconfirmed.get(number)?.[count] === undefined ? "" : "?";
    const children = [new TextRun({ ...run, text: `[${number}${doubt}]`, superScript: true })];
    return [new InternalHyperlink({ anchor: `source-${number}`, children })];
  }
}
