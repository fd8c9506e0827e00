/** Starts the real programs as child processes: Glasshouse with an empty data directory, and the scripted model. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Starts a program and waits for its first line, which ends with its URL. */
async function start(command, args, env = {}) {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const line = await Promise.race([
    new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve)),
    ended.then((code) => Promise.reject(new Error(`${command} ended with ${code}`))),
  ]);
  return { url: line.slice(line.search(/https?:\/\//)), child, ended };
}

export function needed(name) {
  const path = process.env[name];
  const how = "run these tests with `cargo xtask test --e2e`";
  if (!path) throw new Error(`${name} is not set: ${how}`);
  if (!existsSync(path)) throw new Error(`${name} is ${path}, which is not there: ${how}`);
  return path;
}

/** Most tests count the requests to their model, so internal calls are disabled. */
const NOTHING_BESIDE_CHATS = {
  GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION: "false",
  GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION: "false",
  GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION: "false",
};

/** A port that nothing listens on. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Starts Glasshouse on a free port unless one is given, configured through `environment`. */
export async function startGlasshouse(environment = {}, port = 0) {
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-e2e-"));
  const run = (port) => {
    const args = ["--listen", `127.0.0.1:${port}`, "--data-dir", folder];
    return start(needed("GLASSHOUSE_BIN"), args, {
      GLASSHOUSE_LOG_LEVEL: "error",
      ...NOTHING_BESIDE_CHATS,
      ...environment,
    });
  };
  let running = await run(port);
  return {
    get url() {
      return running.url;
    },
    /** Kills it with SIGKILL, and starts it again at the same address. */
    async killAndStart() {
      const { port } = new URL(running.url);
      running.child.kill("SIGKILL");
      await running.ended;
      running = await run(port);
    },
    async stop() {
      running.child.kill("SIGTERM");
      await running.ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** The scripted model server with these cases. */
export async function startModel(cases) {
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-model-"));
  const file = join(folder, "scenario.json");
  await writeFile(file, JSON.stringify({ cases }));
  const args = ["--listen", "127.0.0.1:0", "--scenario", file];
  const running = await start(needed("SCRIPTED_MODEL_BIN"), args);
  return {
    url: running.url,
    async stop() {
      running.child.kill("SIGTERM");
      await running.ended;
      await rm(folder, { recursive: true });
    },
  };
}

/** Steps of the scripted model. */
export const text = (words, tokens_per_second) => ({ type: "text", text: words, tokens_per_second });
export const reasoning = (words, tokens_per_second) => ({
  type: "reasoning",
  text: words,
  tokens_per_second,
});
export const pause = (ms) => ({ type: "pause", ms });
export const calls = (...list) => ({
  type: "calls",
  calls: list.map(([name, args]) => ({ name, arguments: args })),
});
export const turn = (...steps) => ({
  steps: [
    ...steps,
    { type: "usage", input_tokens: 120, output_tokens: 40 },
    { type: "finish", reason: steps.some((step) => step.type === "calls") ? "tool_calls" : "stop" },
  ],
});
