/** Open WebUI's own templates and tasks, passed unchanged to Glasshouse. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "@playwright/test";

/** Reads the constants of its configuration without importing it, which would create a database. */
const READ = `
import ast, importlib.util, json, pathlib
folder = importlib.util.find_spec("open_webui").submodule_search_locations[0]
tree = ast.parse(pathlib.Path(folder, "config.py").read_text())
named = ((line.targets[0], line.value) for line in tree.body if isinstance(line, ast.Assign))
texts = {name.id: value.value for name, value in named if isinstance(name, ast.Name) and isinstance(value, ast.Constant)}
print(json.dumps({name: text for name, text in texts.items() if isinstance(text, str)}))
`;

/** Templates we have settings for, by Open WebUI's names for its defaults. */
const NAMES = {
  TITLE_GENERATION_PROMPT_TEMPLATE: "DEFAULT_TITLE_GENERATION_PROMPT_TEMPLATE",
  TAGS_GENERATION_PROMPT_TEMPLATE: "DEFAULT_TAGS_GENERATION_PROMPT_TEMPLATE",
  FOLLOW_UP_GENERATION_PROMPT_TEMPLATE: "DEFAULT_FOLLOW_UP_GENERATION_PROMPT_TEMPLATE",
  QUERY_GENERATION_PROMPT_TEMPLATE: "DEFAULT_QUERY_GENERATION_PROMPT_TEMPLATE",
  AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE: "DEFAULT_AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE",
  TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE: "DEFAULT_TOOLS_FUNCTION_CALLING_PROMPT_TEMPLATE",
  MOA_GENERATION_PROMPT_TEMPLATE: "DEFAULT_MOA_GENERATION_PROMPT_TEMPLATE",
  RAG_TEMPLATE: "DEFAULT_RAG_TEMPLATE",
  CODE_INTERPRETER_PROMPT_TEMPLATE: "DEFAULT_CODE_INTERPRETER_PROMPT",
};
const SWITCHES = ["TITLE", "TAGS", "FOLLOW_UP", "AUTOCOMPLETE", "MOA"].map(
  (name) => `ENABLE_${name}_GENERATION`,
);

const SAID = [
  { role: "user", content: "Which harbour is busier?" },
  { role: "assistant", content: "North is." },
];
const TASKS = {
  title: { messages: SAID },
  tags: { messages: SAID },
  follow_up: { messages: SAID },
  queries: { messages: SAID, type: "web_search" },
  auto: { prompt: "Which harbour", type: "General" },
  moa: { prompt: "Which harbour is busier?", responses: ["North.", "The north one."] },
};

export function templatesTests(world) {
  test("document 004: Open WebUI's own templates are taken, and every task is answered with them", async () => {
    const python = join(dirname(process.env.OPEN_WEBUI_BIN), "python");
    const theirs = JSON.parse(execFileSync(python, ["-c", READ], { encoding: "utf8" }));
    const templates = Object.fromEntries(Object.entries(NAMES).map(([ours, name]) => [ours, theirs[name]]));
    for (const [name, text] of Object.entries(templates)) assert.ok(text?.length > 50, name);
    const { url, key } = world.glasshouse;
    const send = async (path, body) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/api/v1/tasks/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`);
      return answer.json();
    };
    const before = await send("config/update", {});
    try {
      const switches = Object.fromEntries(SWITCHES.map((name) => [name, true]));
      const set = await send("config/update", { ...templates, ...switches });
      for (const [name, text] of Object.entries(templates)) assert.equal(set[name].trim(), text.trim(), name);
      world.recorder.take();
      for (const [task, body] of Object.entries(TASKS)) {
        const { choices } = await send(`${task}/completions`, { model: "scripted", stream: false, ...body });
        assert.ok(choices[0].message.content.length > 5, task);
      }
      const prompts = world.recorder.take().map(({ messages }) => messages[0].content);
      assert.ok(prompts.length >= Object.keys(TASKS).length, `${prompts.length} prompts`);
      for (const prompt of prompts)
        assert.doesNotMatch(prompt, /\{\{[A-Za-z_:]/, "every variable is filled in");
    } finally {
      await send("config/update", before);
    }
  });
}
