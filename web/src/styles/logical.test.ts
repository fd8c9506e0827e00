/**
 * Styles name the edges of a line by its direction (`inline-start`), not left and right, so that a page in Arabic or
 * Hebrew is laid out the other way round.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");

/** Declarations that mean the physical edge. */
const ALLOWED: Record<string, string> = {
  "components/chat/CitationCard.svelte: style:left": "a coordinate of the window",
  "components/chat/QuoteButton.svelte: style:left": "as above",
  "components/basic/Menu.svelte: style.left": "as above",
  "components/composer/HashList.svelte: style.left": "as above",
  "markdown/markdown.css: --start: left": "the edges of the list or table, whatever direction its texts have",
  "markdown/markdown.css: --end: right": "as above",
  "markdown/markdown.css: --start: right": "as above",
  "markdown/markdown.css: --end: left": "as above",
};

const PHYSICAL_NAME =
  /^(?:left|right|(?:scroll-)?(?:margin|padding)-(?:left|right)|border-(?:left|right)(?:-.+)?|border-(?:top|bottom)-(?:left|right)-radius)$/;
const PHYSICAL_VALUE = /(?:^|[\s,(])(?:left|right)(?:$|[\s,)])/;
/** Shorthands with an edge in each of four directions. */
const FOUR_EDGES = /^(?:(?:scroll-)?(?:margin|padding)|inset|border-(?:width|style|color))$/;
const MOVES_ALONG_LINE = /(?:translate|translateX|translate3d|skewX)\((?!-?0[,)])/;
/** Gradients that are neither from top to bottom nor the other way. */
const SLANTED = /linear-gradient\((?!0[,d]|180deg)-?[\d.]+(?:deg|turn|rad)/;
const SHADOW = /^(?:(?:box|text)-shadow|--shadow.*)$/;
const SHADOW_ASIDE = /(?:^|,)\s*(?:inset\s+)?-?(?!0\s)[\d.]+(?:px|r?em)?\s/;
/** A turn after `scale`, which mirrors icons; `transform` is applied before it. */
const TURN = /^(?!none|0|-?180deg|-?[01](?:\.5)?turn)/;
const IN_SCRIPT = /\bstyle\.((?:margin|padding|border)?(?:Left|Right)|left|right|translate)\b/g;

/** The words of a value; those of a function belong together. */
function wordsOf(value: string): string[] {
  let depth = 0;
  const marked = [...value].map((character) => {
    if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    return character === " " && depth === 0 ? "\n" : character;
  });
  return marked.join("").split("\n");
}

/** Whether left and right differ; corners are those at the top, then those at the bottom. */
function differs(name: string, value: string): boolean {
  const [first = "", second = first, third = first, fourth = second] = wordsOf(value);
  if (FOUR_EDGES.test(name)) return second !== fourth;
  return name === "border-radius" && (first !== second || third !== fourth);
}

function isPhysical(name: string, value: string): boolean {
  if (PHYSICAL_NAME.test(name) || differs(name, value)) return true;
  if (name === "transform") return MOVES_ALONG_LINE.test(value);
  if (name === "translate") return !/^(?:0|none)(?:\s|$)|--forward/.test(value);
  if (name === "rotate") return TURN.test(value) && !value.includes("--forward");
  if (SHADOW.test(name)) return SHADOW_ASIDE.test(value);
  if (SLANTED.test(value)) return true;
  const [, clip] = /inset\((.+)\)/.exec(value) ?? [];
  if (name === "clip-path" && clip !== undefined) return differs("inset", clip);
  return PHYSICAL_VALUE.test(value);
}

/** The declarations of a component's `style` attributes. */
const attributesOf = (source: string) =>
  [...source.matchAll(/\sstyle="([^"{}]*)"/g)]
    .map(([, style = ""]) => `{${style.replace(/;?$/, ";")}}`)
    .join("");

/** The physical declarations of a style sheet, or of all that a component styles. */
function physicalIn(source: string, isComponent: boolean): string[] {
  const sheet = isComponent ? (/<style[^>]*>([^]*)<\/style>/.exec(source)?.[1] ?? "") : source;
  const styles = isComponent ? sheet + attributesOf(source) : sheet;
  const declarations = styles
    .replace(/\/\*[^]*?\*\//g, "")
    .matchAll(/(?<=[{;]\s*)([\w-]+)\s*:\s*([^;{}]+)(?=[;}])/g);
  const physical = [...declarations]
    .map(([, name = "", value = ""]) => ({ name, value: value.trim().replace(/\s+/g, " ") }))
    .filter(({ name, value }) => isPhysical(name, value))
    .map(({ name, value }) => `${name}: ${value}`);
  const directives = isComponent ? [...source.matchAll(/\sstyle:([\w-]+)=/g)] : [];
  const moved = directives.filter(([, name = ""]) => PHYSICAL_NAME.test(name));
  return [...physical, ...moved.map(([, name = ""]) => `style:${name}`), ...scriptedIn(source)];
}

/** The same of what a script sets. */
const scriptedIn = (source: string) =>
  [...source.matchAll(IN_SCRIPT)].map(([, name = ""]) => `style.${name}`);

const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.(?:css|svelte|ts)$/.test(file),
);

function physicalInFile(file: string): string[] {
  const source = readFileSync(join(ROOT, file), "utf8");
  if (file.endsWith(".test.ts")) return [];
  return file.endsWith(".ts") ? scriptedIn(source) : physicalIn(source, file.endsWith(".svelte"));
}

test("no style names left or right", () => {
  const found = files.flatMap((file) =>
    physicalInFile(file).map((declaration) => `${file.replaceAll("\\", "/")}: ${declaration}`),
  );
  expect(files.length).toBeGreaterThan(200);
  expect(found.filter((one) => !(one in ALLOWED))).toEqual([]);
  expect(Object.keys(ALLOWED).filter((one) => !found.includes(one))).toEqual([]);
});

test.each([
  "margin-left: 2px",
  "padding-right: 0",
  "scroll-margin-left: 1em",
  "border-left: 1px solid",
  "border-right-color: red",
  "border-top-left-radius: 4px",
  "left: 50%",
  "text-align: right",
  "float: left",
  "background: linear-gradient(to right, red, blue)",
  "margin: 0 8px 0 0",
  "padding: 4px max(2px, env(safe-area-inset-left)) 4px 3px",
  "inset: 0 auto 0 0",
  "border-radius: 16px 16px 4px",
  "border-width: 0 0 0 2px",
  "transform: translateX(-50%)",
  "translate: 16px",
  "rotate: 90deg",
  "background: linear-gradient(90deg, red, blue)",
  "box-shadow: 2px 0 4px red",
  "--shadow: 0 1px 2px red, inset -3px 0 red",
  "clip-path: inset(0 4px 0 0)",
])("%s is found", (declaration) => {
  expect(physicalIn(`a { color: red; ${declaration}; }`, false)).toEqual([declaration]);
});

test.each([
  "margin: 0 8px",
  "padding: 1px 2px 3px 2px",
  "padding: 20px max(18px, calc((100% - 760px) / 2)) 40px",
  "border-radius: 8px 8px 0 0",
  "border-inline-start: 1px solid",
  "text-align: start",
  "transform: rotate(90deg)",
  "translate: calc(16px * var(--forward))",
  "transition: transform 0.2s",
  "content: 'left:'",
  "rotate: 180deg",
  "rotate: calc(90deg * var(--forward))",
  "background: linear-gradient(#000 60%, transparent)",
  "box-shadow: 0 1px 2px rgb(1 2 3 / 0.5), inset 0 -2px red",
  "clip-path: inset(50%)",
])("%s is not", (declaration) => {
  expect(physicalIn(`a { color: red; ${declaration}; }`, false)).toEqual([]);
});

test("attributes and scripts are looked at too", () => {
  expect(physicalIn('<p style="color: red; margin-left: 2px">', true)).toEqual(["margin-left: 2px"]);
  expect(physicalIn("<script>list.style.left = `${x}px`;</script>", true)).toEqual(["style.left"]);
  expect(physicalIn('<p style:right="2px">', true)).toEqual(["style:right"]);
});
