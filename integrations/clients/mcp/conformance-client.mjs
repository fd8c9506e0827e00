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
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const signsIn = scenario.startsWith("auth/");

const url = process.argv.at(-1);
const call = signsIn ? ["t__test-tool", {}] : CALLS[scenario];
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const folder = await mkdtemp(join(tmpdir(), "glasshouse-conformance-"));
const config = join(folder, "glasshouse.toml");
const oauth = given.client_id
  ? `oauth = { client_id = ${JSON.stringify(given.client_id)}, client_secret = ${JSON.stringify(given.client_secret ?? "")} }\n`
  : "";
await writeFile(
  config,
  `[[mcp_servers]]\nname = "t"\nurl = ${JSON.stringify(url)}\napproval = "never"\n` +
    (signsIn ? `sign_in = "oauth"\n${oauth}` : ""),
);
const cases = [{ contains: "Go", turns: call ? [turn(calls(call)), turn(text("Done."))] : [turn(text("Done."))] }];
const glasshouse = await startWithModel(cases, { GLASSHOUSE_CONFIG: config });
try {
  if (signsIn) await signIn();
  else await untilState(glasshouse, "t", "connected");
  // Nothing is filled in, so that what has a default has it.
  await play(glasshouse, "Go.", { "": { values: {} } });
} finally {
  await glasshouse.stop();
  await rm(folder, { recursive: true, force: true });
}

/** As a browser does that nobody has to click in. */
async function signIn() {
  const { url } = await (await glasshouse.post("/api/v1/mcp-sign-ins/t", {})).json();
  const sent = await fetch(url, { redirect: "manual" });
  const back = sent.headers.get("location");
  const headers = { cookie: glasshouse.cookie };
  const ended = (await fetch(back, { redirect: "manual", headers })).headers.get("location");
  if (!ended?.endsWith("sign_in=done")) throw new Error(`the sign-in ended with ${ended}`);
}
