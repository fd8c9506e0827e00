/** Exports the current branch of a chat as Markdown: messages with times, steps, sources. */
import type { RunEvent, Source } from "../../api/events.ts";
import type { ChatMessage } from "../../api/types.ts";
import { saysSomething } from "../results.ts";
import { textOf } from "../tree.ts";

/** Translated labels. */
export interface Labels {
  you: string;
  answer: string;
  sources: string;
  steps: (count: number) => string;
  failed: string;
  /** Placeholder for a result without content. */
  completed: string;
  picture: string;
  time: (at: number) => string;
}

/** Longer results are truncated, characters. */
const maxResultLength = 4_000;

/** Tools that run programs, shown as code blocks: the argument with the code, and its language. */
const programs: Record<string, { argument: string; language: string }> = {
  python: { argument: "code", language: "python" },
  shell: { argument: "command", language: "sh" },
};

/**
 * `logs` are the events of the runs, by ID; for a run without one only the answer is included. `folds` puts steps into
 * `<details>`, which does not work in print.
 */
export function chatAsMarkdown(
  title: string,
  path: readonly ChatMessage[],
  logs: ReadonlyMap<string, readonly RunEvent[]>,
  labels: Labels,
  folds = true,
): string {
  const parts = [`# ${inLine(title)}`];
  for (const message of path) {
    const who = message.role === "user" ? labels.you : labels.answer;
    const model = message.role === "assistant" && message.model ? ` · ${inLine(message.model)}` : "";
    parts.push(`## ${who}`, `*${labels.time(message.created_at)}${model}*`);
    const log = message.run ? (logs.get(message.run) ?? []) : [];
    const steps = stepsOf(log, labels, folds);
    if (steps !== "") parts.push(steps);
    const text = textOf(message).trim();
    if (text !== "") parts.push(text);
    const pictures = message.content.filter((part) => part.type === "image").length;
    for (let picture = 0; picture < pictures; picture += 1) parts.push(`*[${labels.picture}]*`);
    for (const part of message.content) {
      if (part.type === "audio") parts.push("🔊");
      if (part.type === "video") parts.push("🎞");
      if (part.type === "file") parts.push(`📄 ${inLine(part.name ?? part.media_type)}`);
    }
    for (const part of message.content) if (part.type === "document") parts.push(`📄 ${inLine(part.name)}`);
    const sources = sourcesOf(log);
    if (sources.length > 0) {
      parts.push(`### ${labels.sources}`, sources.map(sourceLine).join("\n"));
    }
  }
  return `${parts.join("\n\n")}\n`;
}

/** The tool calls, each with its arguments and result. */
function stepsOf(log: readonly RunEvent[], labels: Labels, folds: boolean): string {
  const steps = log.flatMap(({ body }) => {
    if (body.type !== "tool_finished") return [];
    const name = `**${inLine(body.name)}**${body.error ? ` (${labels.failed})` : ""}`;
    return [`${name}${givenTo(body.name, body.arguments)}\n\n${returned(body, labels)}`];
  });
  if (steps.length === 0) return "";
  const summary = labels.steps(steps.length);
  const all = steps.join("\n\n");
  return folds
    ? `<details>\n<summary>${summary}</summary>\n\n${all}\n\n</details>`
    : `**${summary}**\n\n${all}\n\n---`;
}

function returned(body: { result: string; error: boolean }, labels: Labels): string {
  if (!body.error && !saysSomething(body.result)) return labels.completed;
  const isLong = body.result.length > maxResultLength;
  return fenced(isLong ? `${body.result.slice(0, maxResultLength)}…` : body.result, "text");
}

/** Arguments of a tool after its name: a program as a code block, everything else as inline code. */
function givenTo(name: string, given: unknown): string {
  const program = programs[name];
  if (program && given !== null && typeof given === "object") {
    const code = (given as Record<string, unknown>)[program.argument];
    if (typeof code === "string" && Object.keys(given).length === 1)
      return `\n\n${fenced(code.slice(0, maxResultLength), program.language)}`;
  }
  const line = typeof given === "string" ? given : JSON.stringify(given);
  return ` ${codeIn(line.slice(0, maxResultLength))}`;
}

/** Sources without duplicates; the last one wins. */
function sourcesOf(log: readonly RunEvent[]): Source[] {
  const byId = new Map<string, Source>();
  for (const { body } of log) {
    if (body.type !== "sources_found") continue;
    for (const source of body.sources) byId.set(source.id, source);
  }
  return [...byId.values()];
}

function sourceLine(source: Source): string {
  const title = inLine(source.title || source.url);
  const link = /^https?:/.test(source.url)
    ? `[${title.replace(/[[\]]/g, "")}](<${source.url.replace(/[<>\s]/g, "")}>)`
    : title;
  return `- \\[${inLine(source.id)}\\] ${link}`;
}

/** Removes what would end the line or start a tag. */
const inLine = (text: string) => text.replace(/\s+/g, " ").replace(/</g, "&lt;").trim();

/** As inline code, whatever it contains. */
function codeIn(text: string): string {
  const line = text.replace(/\s+/g, " ");
  const ticks = "`".repeat(longestRun(line) + 1);
  return `${ticks} ${line} ${ticks}`;
}

/** As a code block that its content cannot close. */
function fenced(text: string, language: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

const longestRun = (text: string) => Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
