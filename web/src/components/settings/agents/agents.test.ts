/** The agent form: the ID from the name, tools in groups, errors at their fields, and the draft. */
import { expect, test } from "vitest";
import { ApiError } from "../../../api/http.ts";
import type { DefinedAgent } from "../../../api/types.ts";
import { problemOf } from "./problems.ts";
import { isSlug, slugOf } from "./slug.ts";
import { toolGroups } from "./tool-groups.ts";
import { definitionOf, describedBy, hasDraft, isBad, keepDraft, readDraft, writtenOf } from "./written.ts";

test.each([
  ["Travel planner", "travel-planner"],
  ["  Ünïcode & Co. ", "unicode-co"],
  ["Straße", "strasse"],
  ["Планировщик поездок", "planirovshchik-poezdok"],
  ["Съёмка", "semka"],
  ["Йога", "yoga"],
  ["3D printer", "agent-3d-printer"],
  ["42", "agent-42"],
  ["Research", "research-agent"],
  ["旅行", ""],
  ["", ""],
  ["a".repeat(60), "a".repeat(40)],
])("the ID of “%s” is “%s”", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
  if (slug !== "") expect(isSlug(slug)).toBe(true);
});

test("an ID that is taken gets a number", () => {
  expect(slugOf("Poet", ["poet", "poet-2"])).toBe("poet-3");
  const long = slugOf("a".repeat(60), ["a".repeat(40)]);
  expect(long).toBe(`${"a".repeat(38)}-2`);
  expect(isSlug("Poet") || isSlug("poet-") || isSlug("general")).toBe(false);
});

const tool = (name: string, description: string) => ({ name, description, needs_approval: false });

test("tools are grouped by purpose and by server, which is one choice", () => {
  const groups = toolGroups(
    { tools: ["ls", "python", "fly", "tickets__create_ticket", "old_wiki__find"] },
    {
      shared: [
        {
          name: "tickets",
          kind: "http",
          source: "settings",
          enabled: true,
          state: "connected",
          problems: [],
          tools: [tool("tickets__create_ticket", "Opens a ticket.")],
          url: "https://tickets.example.org/mcp",
          headers: [],
          sign_in: "shared",
          token_header: null,
          oauth: null,
          approval: "auto",
          only_tools: [],
          timeout_seconds: 120,
        },
      ],
      personal: [{ name: "mail", sign_in: "oauth", state: "signed_out", problems: [], tools: [] }],
    },
  );
  expect(groups.map(({ label, options }) => [label, options.map(({ value }) => value)])).toEqual([
    ["Files", ["ls"]],
    // They exist in runs only, so that the server does not list them.
    ["Web", ["web_search", "fetch_page"]],
    ["Knowledge", ["search_knowledge", "knowledge_graph"]],
    ["Programs", ["python"]],
    ["More tools", ["fly"]],
    ["tickets", ["tickets__create_ticket"]],
    ["mail", []],
    ["old_wiki", ["old_wiki__find"]],
  ]);
  expect(groups[5]).toEqual({
    name: "tickets__",
    label: "tickets",
    pattern: "tickets__*",
    options: [{ value: "tickets__create_ticket", label: "Create ticket", hint: "Opens a ticket." }],
  });
});

const refusal = (code: string, params = {}, field: string | null = null) =>
  new ApiError(400, "invalid_request", `\`x\`: ${code}`, field, null, { code, params });

test("an error goes to the field that it is about, in the words of the form", () => {
  expect(problemOf(refusal("agent_name_taken", { name: "poet" }))).toEqual({
    field: "name",
    text: "There is already an agent “poet”.",
  });
  expect(problemOf(refusal("bad_agent_name", { limit: 40 })).text).toMatch(/^Use up to 40 lowercase/);
  expect(problemOf(refusal("too_many_names", { field: "skills", limit: 200 })).field).toBe("skills");
  expect(problemOf(refusal("bad_agent_minutes", { most: 9 })).field).toBe("minutes");
  expect(problemOf(refusal("unheard_of", {}, "limits.usd")).field).toBe("usd");
  expect(problemOf(refusal("too_many_agents", { count: 100 })).field).toBeNull();
  expect(problemOf(new ApiError(0, "offline", "")).field).toBeNull();
});

const agent: DefinedAgent = {
  name: "poet",
  description: "Writes poems.",
  instructions: "You write poems.",
  tools: ["write_file"],
  limits: { steps: 20 },
  may_be_called: false,
  enabled: true,
  from_file: false,
  warnings: [],
};

test("what is written is the definition again; a missing description is the first sentence", () => {
  expect({ ...definitionOf(writtenOf(agent), "poet"), from_file: false, warnings: [] }).toEqual(agent);
  const fresh = { ...writtenOf(null), instructions: "# You plan trips. Ask first.\nThen answer." };
  expect(definitionOf(fresh, "planner")).toEqual({
    name: "planner",
    description: "You plan trips.",
    instructions: fresh.instructions,
    limits: {},
    may_be_called: true,
    enabled: true,
  });
  expect(describedBy("Версия 2.5 готова! Ура.")).toBe("Версия 2.5 готова!");
  expect(describedBy("No full stop")).toBe("No full stop");
  expect(isBad(fresh)).toBe(false);
  expect(isBad({ ...fresh, limits: { ...fresh.limits, steps: "0.5" } })).toBe(true);
});

test("a draft is kept until it equals what is stored", () => {
  const changed = { ...writtenOf(agent), tools: null, instructions: "You write odes." };
  keepDraft(agent, changed);
  expect(hasDraft("poet")).toBe(true);
  expect(hasDraft("")).toBe(false);
  expect(readDraft(agent)).toEqual(changed);
  keepDraft(agent, writtenOf(agent));
  expect(readDraft(agent)).toBeNull();
  sessionStorage.setItem("glasshouse.text.agent.poet", "{ broken");
  expect(readDraft(agent)).toBeNull();
});
