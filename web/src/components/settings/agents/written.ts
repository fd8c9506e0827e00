/** The agent form as typed: from a definition, back to one, and kept as a draft while the browser tab is open. */
import type { AgentDefinition, AgentLimits, DefinedAgent } from "../../../api/types.ts";
import { keepText, readText } from "../../../state/drafts.ts";
import {
  anyBad as anyBadParameter,
  isAnySet,
  parametersOf,
  setOnes,
  writtenOf as parametersAsWritten,
  type Written as WrittenParameters,
} from "../../../state/parameters.ts";

export const limitNames = ["steps", "tokens", "usd", "minutes"] as const;
type LimitName = (typeof limitNames)[number];

/** Lists are `null` for all. */
export interface WrittenAgent {
  /** As people see it. */
  name: string;
  /** The name in requests as typed; `null` while it follows the name. */
  slug: string | null;
  description: string;
  instructions: string;
  model: string;
  tools: string[] | null;
  sub_agents: string[] | null;
  skills: string[] | null;
  collections: string[] | null;
  limits: Record<LimitName, string>;
  parameters: WrittenParameters;
  may_be_called: boolean;
  enabled: boolean;
}

export function writtenOf(agent: DefinedAgent | null): WrittenAgent {
  const limit = (name: LimitName) => String(agent?.limits[name] ?? "");
  return {
    name: agent?.title ?? agent?.name ?? "",
    slug: agent?.name ?? null,
    description: agent?.description ?? "",
    instructions: agent?.instructions ?? "",
    model: agent?.model ?? "",
    tools: agent?.tools ?? null,
    sub_agents: agent?.sub_agents ?? null,
    skills: agent?.skills ?? null,
    collections: agent?.collections ?? null,
    limits: { steps: limit("steps"), tokens: limit("tokens"), usd: limit("usd"), minutes: limit("minutes") },
    parameters: parametersAsWritten(agent?.parameters ?? {}),
    may_be_called: agent?.may_be_called ?? true,
    enabled: agent?.enabled ?? true,
  };
}

/** Many locales use a comma as the decimal separator. */
const parse = (text: string) => Number(text.trim().replace(",", "."));
const isWhole = (name: LimitName) => name === "steps" || name === "tokens";

export function isBadLimit(name: LimitName, { limits }: WrittenAgent): boolean {
  const number = parse(limits[name]);
  return limits[name].trim() !== "" && !(number > 0 && (!isWhole(name) || Number.isInteger(number)));
}

export const isBad = (written: WrittenAgent) =>
  limitNames.some((name) => isBadLimit(name, written)) || anyBadParameter(written.parameters);

const maxDescription = 500;

/** The first sentence of the instructions: the server requires a description. */
export function describedBy(instructions: string): string {
  const line = instructions.trim().split("\n", 1)[0] ?? "";
  const [sentence = line] = /^.*?[.!?。！？](?=\s|$)/u.exec(line) ?? [];
  const plain = sentence.replace(/^[#*\s]+/, "").trim();
  return [...plain].slice(0, maxDescription).join("");
}

export function definitionOf(written: WrittenAgent, name: string): AgentDefinition {
  const { model, tools, sub_agents, skills, collections } = written;
  const parameters = setOnes(parametersOf(written.parameters));
  const limits: AgentLimits = {};
  for (const limit of limitNames) {
    if (written.limits[limit].trim() !== "") limits[limit] = parse(written.limits[limit]);
  }
  const title = written.name.trim();
  return {
    name,
    ...(title !== "" && title !== name && { title }),
    description: written.description.trim() || describedBy(written.instructions),
    instructions: written.instructions,
    limits,
    may_be_called: written.may_be_called,
    enabled: written.enabled,
    ...(model === "" ? {} : { model }),
    ...(isAnySet(parameters) ? { parameters } : {}),
    ...(tools && { tools }),
    ...(sub_agents && { sub_agents }),
    ...(skills && { skills }),
    ...(collections && { collections }),
  };
}

const placeOf = (agent: string) => `agent.${agent}`;

/** The draft of an agent's form, of a new one by an empty name; `null` if there is none. */
export function readDraft(agent: DefinedAgent | null): WrittenAgent | null {
  const text = readText(placeOf(agent?.name ?? ""));
  if (text === null) return null;
  try {
    // Of an earlier version of the page, it may lack fields.
    return { ...writtenOf(agent), ...(JSON.parse(text) as Partial<WrittenAgent>) };
  } catch {
    return null;
  }
}

export const hasDraft = (name: string) => readText(placeOf(name)) !== null;

/** Keeps the draft, unless nothing differs from what is stored. */
export function keepDraft(agent: DefinedAgent | null, written: WrittenAgent): void {
  const text = JSON.stringify(written);
  keepText(placeOf(agent?.name ?? ""), text === JSON.stringify(writtenOf(agent)) ? null : text);
}

export const dropDraft = (name: string) => keepText(placeOf(name), null);
