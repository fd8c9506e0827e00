/** What a tool call would do: its heading in words, and its arguments by how they are shown best. */
import type { ArgumentInfo } from "../../api/events.ts";
import { language, t, type Key } from "../../i18n/index.svelte.ts";
import { approval as texts } from "../../i18n/en/approval.ts";
import { argumentLine, programOf } from "../arguments.ts";
import { asSpelt } from "../direction.ts";
import { actionOf, readable, unhidden } from "./readable.ts";

export type Arguments = Record<string, unknown>;
export type Entry = [name: string, value: unknown];

export type CallContent =
  | { kind: "edits"; path: string; edits: Replacement[]; isAll: boolean; rest: Entry[] }
  | { kind: "file"; path: string; text: string; rest: Entry[] }
  | { kind: "code"; text: string; lang: string; rest: Entry[] }
  | { kind: "values"; rest: Entry[] }
  /** Arguments that are not an object. */
  | { kind: "raw"; value: unknown };

export interface Replacement {
  before: string;
  after: string;
}

export function isArguments(value: unknown): value is Arguments {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The MCP server of a tool, if it is of one, and the tool's own name. */
function partsOf(tool: string): { server: string | null; name: string } {
  const at = tool.indexOf("__");
  return at > 0 && at + 2 < tool.length
    ? { server: tool.slice(0, at), name: tool.slice(at + 2) }
    : { server: null, name: tool };
}

const maxNameLength = 60;

/** The last part of a path. */
function fileName(path: unknown): string | null {
  if (typeof path !== "string") return null;
  return shortened(path.split("/").filter(Boolean).at(-1) ?? "");
}

function shortened(text: string): string | null {
  const clean = asSpelt(text).replace(/\s+/g, " ").trim();
  return clean.length > maxNameLength ? `${clean.slice(0, maxNameLength)}…` : clean || null;
}

/** Values for the headings of Glasshouse's own tools; `null` if the arguments do not have them. */
const headings: Record<string, (given: Arguments) => Record<string, string> | null> = {
  delete_file: ({ path }) => named(fileName(path)),
  edit_file: ({ path }) => named(fileName(path)),
  fetch_page: ({ url }) => named(hostOf(url)),
  latex: ({ path }) => named(fileName(path)),
  memory_append: () => ({}),
  memory_write: () => ({}),
  move_file: ({ from, to }) => {
    const [before, after] = [fileName(from), typeof to === "string" ? shortened(to) : null];
    return before && after ? { from: before, to: after } : null;
  },
  python: () => ({}),
  read_file: ({ path }) => named(fileName(path)),
  shell: () => ({}),
  task: () => ({}),
  web_search: () => ({}),
  write_file: ({ path }) => named(fileName(path)),
};

const named = (name: string | null) => (name === null ? null : { name });

function hostOf(url: unknown): string | null {
  const host = typeof url === "string" && URL.canParse(url) ? new URL(url).host : "";
  return host === "" ? null : host;
}

export function headingOf(tool: string, given: unknown): string {
  const own = Object.hasOwn(headings, tool) && isArguments(given) ? headings[tool]?.(given) : null;
  if (own) return t(`approval.do.${tool}` as Key, own);
  const { server, name } = partsOf(tool);
  const action = (language() === "en" ? shortened(actionOf(name)) : shortened(readable(name))) ?? tool;
  return server === null
    ? t("approval.do.call", { action })
    : t("approval.do.callOn", { action, server: shortened(server) ?? server });
}

/** What several calls of a tool are, as in “Allow all 3 edits”. */
export function allowAllOf(tool: string, count: number): string {
  const key = `approval.all.${tool}`;
  return Object.hasOwn(texts, key) ? t(key as Key, { count }) : t("approval.all.calls", { count, tool });
}

/**
 * The label of an argument: the title in the tool's schema, or its name in words. Only those of Glasshouse's own tools are
 * translated.
 */
export function labelOf(tool: string, argument: string, info: readonly ArgumentInfo[] = []): string {
  const key = `approval.argument.${argument}`;
  if (Object.hasOwn(headings, tool) && Object.hasOwn(texts, key)) return t(key as Key);
  const title = infoOf(argument, info)?.title;
  return (title && shortened(unhidden(title))) || (shortened(readable(argument)) ?? argument);
}

/** What the tool's schema says of an argument. */
export const infoOf = (argument: string, info: readonly ArgumentInfo[]) =>
  info.find(({ name }) => name === argument);

/** An argument's name and description, for a tooltip. Glasshouse describes its own tools to models only. */
export function hintOf(tool: string, argument: string, info: readonly ArgumentInfo[]): string {
  const description = Object.hasOwn(headings, tool) ? undefined : infoOf(argument, info)?.description;
  return description ? `${argument}: ${unhidden(description)}` : argument;
}

/** Names by which tools call the text to replace and its replacement. */
const replacements = [
  ["old_text", "new_text"],
  ["oldText", "newText"],
  ["old_string", "new_string"],
  ["old_str", "new_str"],
] as const;

function replacementIn(value: unknown): { names: readonly string[]; edit: Replacement } | null {
  if (!isArguments(value)) return null;
  for (const names of replacements) {
    const [before, after] = [value[names[0]], value[names[1]]];
    if (typeof before === "string" && typeof after === "string") return { names, edit: { before, after } };
  }
  return null;
}

const languages: Record<string, string> = {
  bash: "bash",
  command: "bash",
  javascript: "javascript",
  js: "javascript",
  node: "javascript",
  python: "python",
  shell: "bash",
  sql: "sql",
  typescript: "typescript",
};

/** The language of a program, by the tool's name. */
function languageOf(tool: string, given: Arguments): string {
  const word = tool.toLowerCase().split(/[^a-z]+/);
  const known = word.find((part) => Object.hasOwn(languages, part));
  return known ? (languages[known] ?? "") : "command" in given ? "bash" : "";
}

export function contentOf(tool: string, given: unknown): CallContent {
  if (!isArguments(given)) return { kind: "raw", value: given };
  const without = (...names: string[]) => Object.entries(given).filter(([name]) => !names.includes(name));
  const { path } = given;
  if (typeof path === "string") {
    const single = replacementIn(given);
    if (single) {
      const { replace_all: all } = given;
      const used = typeof all === "boolean" && tool === "edit_file" ? ["replace_all"] : [];
      const rest = without("path", ...single.names, ...used);
      return { kind: "edits", path, edits: [single.edit], isAll: all === true, rest };
    }
    const list = Array.isArray(given["edits"]) ? given["edits"].map(replacementIn) : [];
    const edits = list.flatMap((found) => (found ? [found.edit] : []));
    if (edits.length > 0 && edits.length === list.length && onlyReplacements(given["edits"])) {
      return { kind: "edits", path, edits, isAll: false, rest: without("path", "edits") };
    }
    const { content } = given;
    if (typeof content === "string" && /(^|_)(write|create)_file$/.test(partsOf(tool).name)) {
      return { kind: "file", path, text: content, rest: without("path", "content") };
    }
  }
  const program = programOf(given);
  if (program) {
    const rest = Object.entries(program.rest);
    return { kind: "code", text: program.program, lang: languageOf(tool, given), rest };
  }
  return { kind: "values", rest: Object.entries(given) };
}

/** Whether nothing else is in the list, which the diff would not show. */
const onlyReplacements = (list: unknown) =>
  Array.isArray(list) && list.every((one) => isArguments(one) && Object.keys(one).length === 2);

/** What tells a call from others with the same heading, in one line. */
export function lineOf(tool: string, given: unknown): string {
  const content = contentOf(tool, given);
  const [first] = content.kind === "edits" ? content.edits : [];
  return unhidden(first ? argumentLine(`${first.before} → ${first.after}`) : argumentLine(given));
}

const extensions: Record<string, string> = {
  c: "c",
  cpp: "cpp",
  cs: "csharp",
  css: "css",
  go: "go",
  h: "c",
  htm: "xml",
  html: "xml",
  java: "java",
  js: "javascript",
  json: "json",
  jsx: "javascript",
  md: "markdown",
  mjs: "javascript",
  py: "python",
  rs: "rust",
  sh: "bash",
  sql: "sql",
  svelte: "xml",
  svg: "xml",
  toml: "ini",
  ts: "typescript",
  tsx: "typescript",
  xml: "xml",
  yaml: "yaml",
  yml: "yaml",
};

/** The highlighter's language for a file; empty if unknown. */
export function languageOfFile(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(extensions, extension) ? (extensions[extension] ?? "") : "";
}

/** The file after the edits as the tool makes them; `null` if they do not apply to it. */
export function edited(text: string, edits: Replacement[], isAll: boolean): string | null {
  let now = text;
  for (const { before, after } of edits) {
    const at = before === "" ? -1 : now.indexOf(before);
    if (at < 0) return null;
    const isOnce = now.indexOf(before, at + before.length) < 0;
    if (!isAll && !isOnce) return null;
    now = now.split(before).join(after);
  }
  return now;
}
