/** Starts the Open WebUI package as a child process: loopback only, no downloads, an empty data directory. */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "../programs.mjs";

/** Its first start creates its database, which takes most of a minute on a small machine. */
const START_LIMIT_S = 240;
const STOP_LIMIT_MS = 15_000;

export const ADMIN = { name: "Ada Lovelace", email: "ada@example.org", password: "correct horse" };

/** Prevents external requests, and downloads of models. */
const OFFLINE = {
  OFFLINE_MODE: "true",
  HF_HUB_OFFLINE: "1",
  ENABLE_VERSION_UPDATE_CHECK: "false",
  ENABLE_OLLAMA_API: "false",
  ENABLE_COMMUNITY_SHARING: "false",
  ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS: "false",
  ANONYMIZED_TELEMETRY: "false",
  DO_NOT_TRACK: "true",
  SCARF_NO_ANALYTICS: "true",
  // Otherwise it downloads an embedding model on startup.
  RAG_EMBEDDING_ENGINE: "openai",
  BYPASS_EMBEDDING_AND_RETRIEVAL: "true",
};

/** Starts it and creates its administrator; on failure, throws with its output. */
export async function startOpenWebUi() {
  const program = process.env.OPEN_WEBUI_BIN;
  if (!program) throw new Error("OPEN_WEBUI_BIN is not set: run `cargo xtask test --open-webui`");
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-open-webui-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const log = join(folder, "log.txt");
  const child = spawn(program, ["serve", "--host", "127.0.0.1", "--port", String(port)], {
    cwd: folder,
    env: {
      ...process.env,
      ...OFFLINE,
      // Makes it drop an upstream that is silent for this long; by default it waits forever.
      AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "30",
      DATA_DIR: folder,
      WEBUI_SECRET_KEY: "only for this test, only for this test",
      WEBUI_URL: url,
      CORS_ALLOW_ORIGIN: url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file, { end: false });
  child.stderr.pipe(file, { end: false });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    // It waits for open connections, which the browser keeps.
    if ((await Promise.race([ended, wait(STOP_LIMIT_MS, "late")])) === "late") child.kill("SIGKILL");
    await ended;
    file.end();
    await rm(folder, { recursive: true });
  };
  try {
    await untilReady(url, ended);
  } catch (error) {
    const said = await readFile(log, "utf8");
    await stop();
    throw new Error(`${error.message}:\n${said.slice(-3000)}`);
  }
  const account = await post(`${url}/api/v1/auths/signup`, ADMIN);
  return { url, token: account.token, stop, log: () => readFile(log, "utf8"), ...calls(url, account.token) };
}

async function untilReady(url, ended) {
  let code;
  ended.then((ending) => (code = ending ?? "a signal"));
  for (let second = 0; second < START_LIMIT_S && code === undefined; second += 1) {
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    if (answer?.ok) return;
    await wait(1000);
  }
  throw new Error(code === undefined ? "Open WebUI did not get ready" : `Open WebUI ended with ${code}`);
}

/** Its API, as the administrator. */
function calls(url, token) {
  const headers = { authorization: `Bearer ${token}` };
  return {
    get: (path) => ask(`${url}${path}`, { headers }),
    post: (path, body) => post(`${url}${path}`, body, headers),
  };
}

function post(url, body, headers = {}) {
  return ask(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

async function ask(url, options) {
  const answer = await fetch(url, options);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}
