/** The tools an agent can have, as groups of a picker: built-in ones by purpose, then those of each MCP server. */
import type { AgentList, McpServer, McpSignIn } from "../../../api/types.ts";
import { en } from "../../../i18n/en/dictionary.ts";
import { t, type Key } from "../../../i18n/index.svelte.ts";
import { readableName } from "../../../state/call-words.ts";
import type { Option, OptionGroup } from "../picker/options.ts";

const builtIn = {
  files: ["read_file", "write_file", "edit_file", "move_file", "delete_file", "ls", "glob", "grep"],
  work: ["write_todos", "task", "ask_user", "skill"],
  web: ["web_search", "fetch_page"],
  knowledge: ["search_knowledge", "knowledge_graph"],
  memory: ["memory_list", "memory_read", "memory_search", "memory_write", "memory_append"],
  programs: ["python", "shell", "latex"],
} as const;

/** The server adds these for each person and does not list them. */
const perPerson: readonly string[] = [...builtIn.web, ...builtIn.knowledge];

const ofServer = "__";

interface Servers {
  shared: McpServer[];
  personal: McpSignIn[];
}

export function toolGroups({ tools }: Pick<AgentList, "tools">, servers: Servers): OptionGroup[] {
  const known = [...tools, ...perPerson];
  const groups = Object.entries(builtIn).map(([name, names]) => ({
    name,
    label: t(`toolGroup.${name as keyof typeof builtIn}`),
    options: names.filter((tool) => known.includes(tool)).map(optionOf),
  }));
  const named: readonly string[] = Object.values(builtIn).flat();
  const others = tools.filter((tool) => !named.includes(tool) && !tool.includes(ofServer));
  groups.push({ name: "more", label: t("toolGroup.more"), options: others.map(optionOf) });
  return [...groups.filter(({ options }) => options.length > 0), ...serverGroups(tools, servers)];
}

function optionOf(value: string): Option {
  const key = `tool.${value}`;
  if (!Object.hasOwn(en, key)) return { value, label: readableName(value) };
  return { value, label: t(key as Key), hint: t(`${key}.hint` as Key) };
}

function serverGroups(tools: string[], { shared, personal }: Servers): OptionGroup[] {
  const described = new Map([...shared, ...personal].map((server) => [server.name, server.tools]));
  for (const tool of tools) {
    const [server = "", ...rest] = tool.split(ofServer);
    if (rest.length === 0 || [...described.keys()].some((name) => tool.startsWith(name + ofServer))) continue;
    described.set(server, []);
  }
  return [...described].map(([server, ownTools]) => {
    const prefix = server + ofServer;
    const hints = new Map(ownTools.map(({ name, description }) => [name, description]));
    const names = new Set([...hints.keys(), ...tools.filter((tool) => tool.startsWith(prefix))]);
    const options = [...names].map((value) => ({
      value,
      label: readableName(value.replace(prefix, "")),
      hint: hints.get(value) ?? "",
    }));
    return { name: prefix, label: server, options, pattern: `${prefix}*` };
  });
}
