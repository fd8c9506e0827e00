/** Constant programs, agents and MCP servers of the fake server. */
export const PROGRAMS = {
  available: true,
  problem: null,
  python_version: "3.11.7",
  python_modules: ["numpy", "matplotlib"],
  shell: true,
  latex: [],
};
const writer = {
  name: "writer",
  description: "Writes and edits letters.",
  instructions: "You write letters.",
  model: "qwen3-30b",
  tools: ["write_file", "files__*"],
  limits: { steps: 20 },
  may_be_called: true,
  enabled: true,
};
export const AGENTS = {
  agents: [
    {
      ...writer,
      from_file: false,
      warnings: [
        {
          message: "Tools not available: “files__*”.",
          sentence: { code: "agent_tools_missing", params: { names: "“files__*”" } },
        },
      ],
    },
    { ...writer, name: "editor", enabled: false, from_file: true, warnings: [] },
  ],
  tools: ["ls", "read_file", "write_file"],
  skills_folder: "/srv/skills",
  skills: [{ name: "letters", description: "How our letters look.", files: 2 }],
  broken_skills: [{ name: "broken", problem: { message: "File not found: SKILL.md." } }],
};
const MCP_DEFAULTS = {
  source: "settings",
  enabled: true,
  url: "https://tickets.example.org/mcp",
  headers: [],
  sign_in: "shared",
  token_header: null,
  oauth: null,
  approval: "auto",
  only_tools: [],
  timeout_seconds: 120,
};
export const MCP_SERVERS = [
  {
    ...MCP_DEFAULTS,
    source: "file",
    url: null,
    name: "files",
    kind: "stdio",
    state: "connected",
    problems: [{ message: "The tool “fly” cannot be used: the server does not offer it." }],
    tools: [
      { name: "files__read", description: "Reads a file.", needs_approval: false },
      { name: "files__write", description: "Writes a file.", needs_approval: true },
    ],
  },
  { ...MCP_DEFAULTS, name: "new", kind: "http", state: "connecting", problems: [], tools: [] },
  {
    ...MCP_DEFAULTS,
    name: "tickets",
    kind: "http",
    state: "down",
    problems: [{ message: "The server ended at once." }],
    tools: [],
  },
];
export const WEB_SEARCH = {
  is_configured: false,
  providers: [
    { kind: "searxng", url: "https://search.example.org/", has_key: false, tool: null, problem: null },
  ],
};
