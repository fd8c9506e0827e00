/** Test environment of the Open WebUI tests: the model, Glasshouse, Open WebUI and a browser, with access to each. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { launch } from "../browser.mjs";
import { startGlasshouse, startModel } from "../programs.mjs";
import { config } from "./camera.mjs";
import { startRecorder } from "./recorder.mjs";
import { CASES, SILENCE_MS } from "./scripts.mjs";
import { ADMIN, startOpenWebUi } from "./server.mjs";

const PIPE = new URL("../../../integrations/open_webui/glasshouse_pipe.py", import.meta.url);
const FUNCTION = "glasshouse";

export async function startWorld() {
  // Stopped in reverse order, also if a later one fails to start.
  const started = [];
  const stop = async () => {
    for (const each of started.reverse()) await each.stop();
  };
  const keep = async (starting) => {
    const each = await starting;
    started.push(each);
    return each;
  };
  try {
    const model = await keep(startModel(CASES));
    const recorder = await keep(startRecorder(model.url));
    const folder = await mkdtemp(join(tmpdir(), "glasshouse-config-"));
    started.push({ stop: () => rm(folder, { recursive: true }) });
    const file = join(folder, "glasshouse.toml");
    await writeFile(file, config());
    const program = await keep(
      startGlasshouse({
        GLASSHOUSE_CONFIG: file,
        OPENAI_API_BASE_URL: recorder.url,
        OPENAI_API_KEY: "none",
        // The model is silent on purpose and must not time out.
        GLASSHOUSE_MODEL_TIMEOUTS_FIRST_TOKEN_SECONDS: String(SILENCE_MS / 1000 + 60),
      }),
    );
    const glasshouse = await setUp(program.url);
    started.push({ stop: () => glasshouse.leave() });
    const openWebUi = await keep(startOpenWebUi());
    const browser = await launch();
    started.push({ stop: () => browser.close() });
    return { recorder, glasshouse, openWebUi, browser, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Glasshouse with an administrator and a key, observed through its API. */
async function setUp(url) {
  const send = async (path, body, headers = {}) => {
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, ...headers },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const session = (await send("/api/v1/setup", ADMIN)).headers.get("set-cookie").split(";")[0];
  const made = await send("/api/v1/keys", { name: "Open WebUI" }, { cookie: session });
  const key = (await made.json()).secret;
  const headers = { authorization: `Bearer ${key}` };
  const leaving = new AbortController();
  const runs = [];
  watch(`${url}/api/v1/activity`, { headers, signal: leaving.signal }, ({ run, state }) => {
    if (state === "running" && !runs.includes(run)) runs.push(run);
  });
  const outcome = async (run) => {
    const answer = await fetch(`${url}/runs/${run}`, { headers });
    return (await answer.json()).summary?.outcome;
  };
  return {
    url,
    key,
    /** All runs since the start, in order. */
    runs,
    outcome,
    /** Outcome of a run; polls for up to `seconds`. */
    async ended(run, seconds = 5) {
      for (let look = 0; look < seconds * 10; look += 1) {
        const found = await outcome(run);
        if (found) return found;
        await wait(100);
      }
      throw new Error(`run ${run} still goes on after ${seconds} seconds`);
    },
    leave: () => leaving.abort(),
  };
}

/** Reads an event stream until aborted. */
async function watch(url, options, each) {
  let rest = "";
  try {
    const answer = await fetch(url, options);
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split("\n\n");
      rest = events.pop();
      for (const event of events) if (event.startsWith("data:")) each(JSON.parse(event.slice(5)));
    }
  } catch (error) {
    if (!options.signal.aborted) throw error;
  }
}

/** Headers from the guide: which chat a message belongs to, and whether it is a title or another task. */
export const HEADERS = { "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}", "X-OpenWebUI-Task": "{{TASK}}" };

/** The connection, as in Admin Panel → Settings → Connections. */
export async function connect({ openWebUi, glasshouse }, headers = HEADERS) {
  await openWebUi.post("/openai/config/update", {
    ENABLE_OPENAI_API: true,
    OPENAI_API_BASE_URLS: [`${glasshouse.url}/v1`],
    OPENAI_API_KEYS: [glasshouse.key],
    OPENAI_API_CONFIGS: { 0: { enable: true, headers } },
  });
}

/** The guide's steps in Admin Panel → Functions. */
export async function installPipe({ openWebUi, glasshouse }, valves = {}) {
  const content = await readFile(PIPE, "utf8");
  const meta = { description: "Talk to a Glasshouse agent", manifest: {} };
  await openWebUi.post("/api/v1/functions/create", { id: FUNCTION, name: "Glasshouse", content, meta });
  await openWebUi.post(`/api/v1/functions/id/${FUNCTION}/toggle`, {});
  await setValves({ openWebUi, glasshouse }, valves);
}

export async function setValves({ openWebUi, glasshouse }, valves = {}) {
  const needed = { DEEP_AGENT_URL: glasshouse.url, API_KEY: glasshouse.key };
  await openWebUi.post(`/api/v1/functions/id/${FUNCTION}/valves/update`, { ...needed, ...valves });
}
