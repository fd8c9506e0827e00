/** The field of the agent form that an error concerns, and what to say there. */
import { ApiError } from "../../../api/http.ts";
import type { Messages } from "../../../api/messages.ts";
import { t } from "../../../i18n/index.svelte.ts";
import { sentenceOf } from "../../../state/toasts.svelte.ts";

export type AgentField =
  | "name"
  | "title"
  | "description"
  | "instructions"
  | "model"
  | "parameters"
  | "tools"
  | "sub_agents"
  | "skills"
  | "collections"
  | "steps"
  | "tokens"
  | "usd"
  | "minutes";

export interface Problem {
  /** `null` if it is about no field: the server is away, or there are too many agents. */
  field: AgentField | null;
  text: string;
}

const fields: Partial<Record<keyof Messages, AgentField>> = {
  bad_agent_name: "name",
  bad_agent_title: "title",
  agent_name_reserved: "name",
  agent_name_taken: "name",
  bad_agent_description: "description",
  bad_instructions: "instructions",
  bad_agent_model: "model",
  agent_system_prompt: "parameters",
  star_within: "tools",
  no_steps_or_tokens: "steps",
  bad_agent_cost: "usd",
  bad_agent_minutes: "minutes",
};
const names: readonly string[] = [
  ...Object.values(fields),
  "parameters",
  "sub_agents",
  "skills",
  "collections",
  "tokens",
] satisfies AgentField[];

export function problemOf(error: unknown): Problem {
  if (!(error instanceof ApiError)) return { field: null, text: sentenceOf(error) };
  return { field: fieldOf(error), text: textOf(error) };
}

function fieldOf({ field, sentence }: ApiError): AgentField | null {
  // The server names the field in the parameters of errors about lists, and in none of the others.
  const named = field ?? sentence?.params?.field;
  const last = typeof named === "string" ? (named.split(".").at(-1) ?? "") : "";
  const ofCode = sentence && fields[sentence.code as keyof Messages];
  return names.includes(last) ? (last as AgentField) : (ofCode ?? null);
}

/** In the words of the form: the server's sentences name the fields of a request. */
function textOf(error: ApiError): string {
  const { code = "", params = {} } = error.sentence ?? {};
  const value = (name: string) => (typeof params[name] === "number" ? params[name] : String(params[name]));
  switch (code) {
    case "bad_agent_name":
      return t("agents.problem.id", { limit: value("limit") });
    case "agent_name_reserved":
      return t("agents.problem.reserved", { name: value("name") });
    case "agent_name_taken":
      return t("agents.problem.taken", { name: value("name") });
    case "bad_agent_title":
      return t("agents.problem.title", { limit: value("limit") });
    case "bad_agent_description":
      return t("agents.problem.description", { limit: value("limit") });
    case "bad_instructions":
      return t("agents.problem.instructions", { limit: value("limit") });
    case "star_within":
      return t("agents.problem.star", { tool: value("tool") });
    default:
      return sentenceOf(error);
  }
}
