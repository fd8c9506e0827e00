/** A tool call in words: "Edited report.md", "Searched the web: tide tables", with its figures. */
import { t, type Key } from "../i18n/index.svelte.ts";
import { argumentLine, oneLine, partialArgument, partialLine } from "./arguments.ts";
import { shownName } from "./files.svelte.ts";
import type { AgentNode, FileChange, FileNews, LineCounts, MemoryNode, ToolNode } from "./nodes.ts";
import { sum } from "./sums.ts";

/** Keys of the texts for calls that have one with `.now` too. */
type CallKey = { [K in Key]: `${K}.now` extends Key ? K : never }[Key];

interface Wording {
  key: CallKey;
  /** Name of the argument that is `{what}`, and how it is shown. */
  what?: string;
  shown?: (text: string) => string;
}

const file = (key: CallKey, what = "path"): Wording => ({ key, what, shown: shownName });

const wordings: Record<string, Wording> = {
  write_todos: { key: "call.plan" },
  plan_research: { key: "call.researchPlan" },
  write_file: file("call.write"),
  edit_file: file("call.edit"),
  delete_file: file("call.delete"),
  move_file: file("call.move", "from"),
  read_file: file("call.read"),
  ls: file("call.list"),
  glob: { key: "call.glob", what: "pattern" },
  grep: { key: "call.grep", what: "pattern" },
  web_search: { key: "call.web", what: "query" },
  fetch_page: { key: "call.read", what: "url", shown: shortAddress },
  read_source: { key: "call.read", what: "title" },
  search_knowledge: { key: "call.knowledge", what: "query" },
  knowledge_graph: { key: "call.graph", what: "name" },
  python: { key: "call.python" },
  shell: { key: "call.shell", what: "command" },
  latex: file("call.latex"),
  ask_user: { key: "call.question", what: "question" },
  task: { key: "call.subAgent", what: "description" },
  skill: { key: "call.skill", what: "skill" },
  find_tools: { key: "call.tools", what: "query" },
  memory_write: { key: "call.memorySave", what: "name" },
  memory_append: { key: "call.memorySave", what: "name" },
  memory_read: { key: "call.memoryRead", what: "name" },
  memory_list: { key: "call.memoryRead" },
  memory_search: { key: "call.memorySearch", what: "query" },
};

export interface CallWords {
  text: string;
  /** The most telling argument of a tool that has no wording of its own; else empty. */
  detail: string;
}

export function wordsOfCall(node: ToolNode): CallWords {
  const wording = Object.hasOwn(wordings, node.name) ? wordings[node.name] : undefined;
  if (!wording) {
    const { arguments: given, argumentsText } = node;
    return {
      text: readableName(node.name),
      detail: given === undefined ? partialLine(argumentsText) : argumentLine(given),
    };
  }
  const { what, shown = oneLine } = wording;
  const values = { what: shown(argumentOf(node, what)), to: shown(argumentOf(node, "to")) };
  return { text: t(keyOf(node, wording.key), values).replace(/:?\s*$/, ""), detail: "" };
}

function keyOf({ name, state, changes }: ToolNode, key: CallKey): Key {
  if (state !== "done") return `${key}.now`;
  const [change] = changes;
  if (name !== "write_file" || !change) return key;
  return change.version === 1 ? "call.create" : "call.edit";
}

/** Sub-agents of the server itself, whose names say nothing to people. */
const builtIn = new Set([null, "general", "explore"]);

/** The row of a sub-agent: who was asked, and for what; or the source that it reads. */
export function wordsOfAgent({ name, type, outcome }: AgentNode, tool: ToolNode): string {
  const what = oneLine(name);
  if (tool.name === "read_source")
    return t(outcome === "completed" ? "call.read" : "call.read.now", { what });
  return type === null || builtIn.has(type)
    ? t("call.subAgent", { what })
    : t("call.agent", { agent: type, what });
}

export function wordsOfMemory({ name, state, deleted }: MemoryNode): string {
  if (state === "running") return t("steps.memoryUpdating", { name });
  if (state === "failed") return t("steps.memoryFailed", { name });
  return t(deleted ? "steps.memoryDeleted" : "steps.memoryChanged", { name });
}

function argumentOf({ arguments: given, argumentsText }: ToolNode, name: string | undefined): string {
  if (name === undefined) return "";
  if (given === undefined) return partialArgument(argumentsText, name);
  if (typeof given !== "object" || given === null) return "";
  const value = (given as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}

/** An address without what is the same in most: `example.org/page`. */
export function shortAddress(address: string): string {
  if (!URL.canParse(address)) return oneLine(address);
  const { host, pathname, search } = new URL(address);
  return oneLine(`${host.replace(/^www\./, "")}${pathname.replace(/\/$/, "")}${search}`);
}

/** A tool's name in words: `tickets__create_ticket` of an MCP server is "Create ticket · tickets". */
export function readableName(name: string): string {
  const [, server, tool] = /^(.+?)__(.+)$/s.exec(name) ?? [null, "", name];
  const words = tool
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[\s_.-]+/)
    .filter(Boolean)
    .map((word) => (/^[A-Z][a-z]/.test(word) ? word.toLowerCase() : word))
    .join(" ");
  const text = words === "" ? tool : words.charAt(0).toUpperCase() + words.slice(1);
  return server === "" ? text : `${text} · ${server}`;
}

/** How much a call has found, if its result says so: "8 results". */
export function figureOfCall(node: ToolNode): string {
  const { name, state, result, preview } = node;
  if (state !== "done" || result === null) return "";
  const found = Object.hasOwn(counted, name) ? counted[name] : undefined;
  if (!found) return "";
  const left = /^… and (\d+) more/m.exec(result)?.[1] ?? 0;
  const count = (result.match(found.each)?.length ?? 0) + Number(left);
  // A cut result shows only how many there are at least.
  return count === 0 ? "" : t(found.key, { count, more: preview ? "+" : "" });
}

/** What stands once for each hit in the results of the server's tools. */
const counted: Record<string, { key: Key; each: RegExp }> = {
  web_search: { key: "call.results", each: /^\d+\. [^\n]*\n(?:Only mentioned: )?https?:/gm },
  search_knowledge: { key: "call.results", each: /^\[[^\n]+ in [^\n]+\]$/gm },
  grep: { key: "call.matches", each: /^\/[^\n]*?:\d+: /gm },
  glob: { key: "call.files", each: /^\//gm },
};

/** Directory of results that are too long or no text; they are shown as such. */
const results = "/results/";

/** What a call made of each file, as one change. */
export function changesOfCall({ changes }: ToolNode): Omit<FileNews, "sizeBytes">[] {
  const news: Omit<FileNews, "sizeBytes">[] = [];
  for (const change of changes) {
    if (change.path.startsWith(results)) continue;
    const at = news.findIndex(({ path }) => path === change.path);
    const before = news[at];
    if (before) {
      const lines = before.lines && change.lines && sum(before.lines, change.lines);
      news[at] = { ...change, from: before.from, lines };
    } else {
      news.push({ ...change, from: change.version - 1 });
    }
  }
  return news;
}

/** Lines changed in several files; `null` if that is unknown of all. */
export function linesOfAll(changes: readonly Pick<FileChange, "lines">[]): LineCounts | null {
  const known = changes.flatMap(({ lines }) => lines ?? []);
  return known.length === 0 ? null : known.reduce(sum);
}
