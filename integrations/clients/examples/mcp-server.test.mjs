/** The MCP server of examples/mcp-server, as its configuration names it: a tool that reads and one that needs approval. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { calls, text, turn } from "../../../web/e2e/programs.mjs";
import { follow, of, play, results, say, untilState } from "../mcp/runs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { folderOf } from "./examples.mjs";

const one = (name, args) => [turn(calls([name, args])), turn(text("Done."))];
const CASES = [
  { contains: "Count", turns: one("stock__count", { item: "apples" }) },
  { contains: "Order plums", turns: one("stock__order", { item: "plums", amount: 1 }) },
  { contains: "Order", turns: one("stock__order", { item: "pears", amount: 5 }) },
];

let glasshouse;

before(async () => {
  // The configuration names the server by a path from there.
  process.chdir(folderOf("mcp-server"));
  glasshouse = await startWithModel(CASES, { GLASSHOUSE_CONFIG: "glasshouse.toml" });
  await untilState(glasshouse, "stock", "connected");
});

after(() => glasshouse?.stop());

test("a tool that only reads runs without approval", async () => {
  const bodies = await play(glasshouse, "Count the apples.");
  assert.equal(of(bodies, "approval_asked").length, 0);
  assert.match(results(bodies)[0], /12/);
});

test("a tool that changes something waits for approval, and can be denied", async () => {
  const allowed = await play(glasshouse, "Order pears.");
  assert.equal(of(allowed, "approval_asked").length, 1);
  assert.deepEqual(results(allowed), ["Ordered 5 pears; 8 in stock"]);

  const run = await say(glasshouse, "Order pears.");
  const denied = await follow(glasshouse, run, async ({ type, approval }) => {
    if (type === "approval_asked") await glasshouse.post(`/runs/${run}/approvals/${approval}`, { decision: "deny" });
  });
  assert.equal(of(denied, "tool_finished")[0].error, true);
});

test("what goes wrong is told to the model", async () => {
  const bodies = await play(glasshouse, "Order plums.");
  assert.equal(of(bodies, "tool_finished")[0].error, true);
  assert.match(results(bodies)[0], /Unknown item: plums/);
});
