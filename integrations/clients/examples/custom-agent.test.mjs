/** The agent of examples/custom-agent: its model is sent its instructions, its tools only, and its skill when it asks. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { calls, text, turn } from "../../../web/e2e/programs.mjs";
import { follow, of } from "../mcp/runs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { folderOf } from "./examples.mjs";

const CASES = [{ turns: [turn(calls(["skill", { skill: "weekly-report" }])), turn(text("It is written."))] }];

let glasshouse;

before(async () => {
  process.chdir(folderOf("custom-agent"));
  glasshouse = await startWithModel(CASES, {
    GLASSHOUSE_CONFIG: "glasshouse.toml",
    GLASSHOUSE_SKILLS_FOLDER: folderOf("custom-agent/skills"),
  });
});

after(() => glasshouse?.stop());

test("the agent works with its instructions, tools, parameters and skill", async () => {
  const answer = await fetch(`${glasshouse.url}/chat/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${glasshouse.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "glasshouse/reporter",
      messages: [{ role: "user", content: "Write the report." }],
      stream: false,
    }),
  });
  const { run_id, outcome, content } = await answer.json();
  assert.deepEqual([outcome, content], ["completed", "It is written."]);

  const [first] = glasshouse.sent;
  assert.match(JSON.stringify(first.messages[0].content), /You write short weekly reports for a team/);
  assert.deepEqual(first.tools.map((tool) => tool.function.name).sort(), ["ls", "read_file", "skill", "write_file"]);
  assert.equal(first.temperature, 0.2);

  const [loaded] = of(await follow(glasshouse, run_id), "tool_finished");
  assert.equal(loaded.error, false, loaded.result);
  assert.match(loaded.result, /three headings: Done, Planned, Blocked/);
});
