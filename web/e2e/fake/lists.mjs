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
    { ...writer, from_file: false, warnings: ["There is no tool “files__*” now."] },
    { ...writer, name: "editor", enabled: false, from_file: true, warnings: [] },
  ],
  tools: ["ls", "read_file", "write_file"],
  skills_folder: "/srv/skills",
  skills: [{ name: "letters", description: "How our letters look.", files: 2 }],
  broken_skills: [{ name: "broken", problem: { message: "File not found: SKILL.md." } }],
};
export const MCP_SERVERS = [
  {
    name: "files",
    kind: "stdio",
    state: "connected",
    problems: [{ message: "The tool “fly” cannot be used: the server does not offer it." }],
    tools: [
      { name: "files__read", description: "Reads a file.", needs_approval: false },
      { name: "files__write", description: "Writes a file.", needs_approval: true },
    ],
  },
  { name: "new", kind: "http", state: "connecting", problems: [], tools: [] },
  {
    name: "tickets",
    kind: "http",
    state: "down",
    problems: [{ message: "The server ended at once." }],
    tools: [],
  },
];
