/** What the conformance package starts to see how we are as a client: the real program, with the server whose address is
 * the last argument, and a model that calls its tool. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { calls, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { play, untilState } from "./runs.mjs";

/** The tool to call in each scenario, and with what. */
const CALLS = {
  tools_call: ["t__add_numbers", { a: 5, b: 3 }],
  "elicitation-sep1034-client-defaults": ["t__test_client_elicitation_defaults", {}],
  "sse-retry": ["t__test_reconnection", {}],
};

const url = process.argv.at(-1);
const call = CALLS[process.env.MCP_CONFORMANCE_SCENARIO];
const folder = await mkdtemp(join(tmpdir(), "glasshouse-conformance-"));
const config = join(folder, "glasshouse.toml");
await writeFile(config, `[[mcp_servers]]\nname = "t"\nurl = ${JSON.stringify(url)}\napproval = "never"\n`);
const cases = [{ contains: "Go", turns: call ? [turn(calls(call)), turn(text("Done."))] : [turn(text("Done."))] }];
const glasshouse = await startWithModel(cases, { GLASSHOUSE_CONFIG: config });
try {
  await untilState(glasshouse, "t", "connected");
  // Every question is left out, where it may be.
  await play(glasshouse, "Go.", { "": "Skip" });
} finally {
  await glasshouse.stop();
  await rm(folder, { recursive: true, force: true });
}
