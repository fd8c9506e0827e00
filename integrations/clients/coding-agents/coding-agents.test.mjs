/** Coding agents, unchanged and without a terminal, against the real program: their own tools in a folder, over several turns. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { calls, reasoning, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";

const AGENT = "glasshouse/agent";
const PLAIN = "scripted";
const programs = {
  claude: ".bin/claude",
  codex: ".bin/codex",
  // The package that only starts the one for the machine cannot be locked for all machines.
  opencode: "opencode-linux-x64-baseline/bin/opencode",
};
/** A model that Codex gives its `apply_patch` as a custom tool, which takes a text and no JSON. */
const KNOWN_TO_CODEX = "gpt-5.5";
const PATCH = "*** Begin Patch\n*** Add File: patched.txt\n+hello\n*** End Patch\n";
/** None of them takes ten seconds; one that hangs is stopped. */
const MAX_MS = 60_000;

let folder, glasshouse;
before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "glasshouse-coding-")));
  const file = (name) => join(folder, name);
  glasshouse = await startWithModel([
    {
      contains: "by claude",
      turns: [
        turn(reasoning("A file first."), text("I write it."), calls(["Write", { file_path: file("claude.txt"), content: "hello\n" }])),
        // This server numbers the calls of each answer anew.
        turn(calls(["Read", { file_path: file("claude.txt") }], ["Bash", { command: "wc -c claude.txt", description: "Count" }])),
        turn(calls(["Read", { file_path: file("none.txt") }])),
        turn(text("It has six bytes.")),
      ],
    },
    {
      contains: "by codex",
      turns: [
        turn(reasoning("A file first."), text("I write it."), calls(["exec_command", { cmd: "echo hello > codex.txt" }])),
        turn(calls(["exec_command", { cmd: "wc -c codex.txt" }])),
        turn(text("It has six bytes.")),
      ],
    },
    {
      contains: "a patch",
      turns: [
        turn(text("I patch."), calls(["apply_patch", { input: PATCH }])),
        turn(text("It is patched.")),
      ],
    },
    {
      contains: "by opencode",
      turns: [
        turn(reasoning("A file first."), text("I write it."), calls(["write", { filePath: file("opencode.txt"), content: "hello\n" }])),
        turn(calls(["read", { filePath: file("opencode.txt") }], ["bash", { command: "wc -c opencode.txt", description: "Count" }])),
        turn(calls(["read", { filePath: file("none.txt") }])),
        turn(text("It has six bytes.")),
      ],
    },
    { turns: [turn(text("Hello."))] },
  ]);
});
after(async () => {
  await glasshouse?.stop();
  if (folder) await rm(folder, { recursive: true, maxRetries: 5 });
});

/** Runs one of the programs in the folder, with a home of its own; its output as lines of JSON. */
async function run(name, args, environment) {
  const bin = fileURLToPath(new URL(`node_modules/${programs[name]}`, import.meta.url));
  const home = join(folder, `home-${name}`);
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: folder, ...environment };
  const child = spawn(bin, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], timeout: MAX_MS });
  let out = "";
  let err = "";
  child.stdout.on("data", (data) => (out += data));
  child.stderr.on("data", (data) => (err += data));
  const code = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  assert.equal(code, 0, `${name}: ${out}\n${err}`);
  return out.trim().split("\n").map((line) => JSON.parse(line));
}

/**
 * What the model was sent since then as results of calls, in the conversation that holds these words. What is only passed on
 * keeps the ids of its server.
 */
function results(since, words, isPassedOn = false) {
  const sent = glasshouse.sent.slice(since).filter(({ messages }) => JSON.stringify(messages).includes(words));
  const { messages } = sent.at(-1);
  const ids = messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id);
  if (!isPassedOn) assert.equal(new Set(ids).size, ids.length, "no id is given twice");
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

/** Codex in the folder, with this model; its output as lines of JSON. */
async function runCodex(model, words) {
  const provider = `name = "Glasshouse"\nbase_url = "${glasshouse.url}/v1"\nenv_key = "GLASSHOUSE_API_KEY"\nwire_api = "responses"\n`;
  const config = `model = "${model}"\nmodel_provider = "glasshouse"\n[model_providers.glasshouse]\n${provider}`;
  await writeFile(join(folder, "config.toml"), config);
  const args = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  return run("codex", [...args, words], { GLASSHOUSE_API_KEY: glasshouse.key });
}

const saidBy = (lines) =>
  lines.filter(({ item }) => item?.type === "agent_message").map(({ item }) => item.text);

for (const model of [PLAIN, AGENT]) {
  test(`Claude Code with ${model}`, async () => {
    const since = glasshouse.sent.length;
    await rm(join(folder, "claude.txt"), { force: true });
    const args = ["-p", "Write a file by claude.", "--output-format", "stream-json", "--verbose"];
    const lines = await run("claude", [...args, "--allowedTools", "Write,Read,Bash"], {
      ANTHROPIC_BASE_URL: glasshouse.url,
      ANTHROPIC_AUTH_TOKEN: glasshouse.key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: PLAIN,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    });
    const end = lines.at(-1);
    assert.deepEqual([end.type, end.is_error, end.result], ["result", false, "It has six bytes."]);
    assert.deepEqual([end.usage.input_tokens, end.usage.output_tokens], [480, 160]);
    assert.equal(await readFile(join(folder, "claude.txt"), "utf8"), "hello\n");
    const [written, read, counted, missing] = results(since, "by claude");
    assert.match(written, /created|updated/);
    assert.match(read, /hello/);
    assert.match(counted, /^6 claude\.txt/);
    assert.match(missing, /not exist/);
    const prompt = JSON.stringify(glasshouse.sent.at(-1).messages);
    assert.doesNotMatch(prompt, /x-anthropic-billing-header/);
  });

  test(`Codex with ${model}`, async () => {
    const since = glasshouse.sent.length;
    await rm(join(folder, "codex.txt"), { force: true });
    const lines = await runCodex(model, "Write a file by codex.");
    assert.deepEqual(saidBy(lines), ["I write it.", "It has six bytes."]);
    const end = lines.at(-1);
    assert.deepEqual([end.type, end.usage.input_tokens, end.usage.output_tokens], ["turn.completed", 360, 120]);
    assert.equal(await readFile(join(folder, "codex.txt"), "utf8"), "hello\n");
    assert.match(results(since, "by codex").at(-1), /6 codex\.txt/);
    const offered = glasshouse.sent.at(-1).tools.map((tool) => tool.function.name);
    assert.ok(offered.includes("multi_agent_v1__spawn_agent"), `${offered}`);
  });

  const skip = process.platform !== "linux" || process.arch !== "x64";
  test(`opencode with ${model}`, { skip }, async () => {
    const since = glasshouse.sent.length;
    await rm(join(folder, "opencode.txt"), { force: true });
    const provider = {
      npm: "@ai-sdk/openai-compatible",
      name: "Glasshouse",
      options: { baseURL: `${glasshouse.url}/v1`, apiKey: "{env:GLASSHOUSE_API_KEY}" },
      models: { [AGENT]: {}, [PLAIN]: {} },
    };
    const config = {
      autoupdate: false,
      share: "disabled",
      provider: { glasshouse: provider },
      model: `glasshouse/${model}`,
      small_model: `glasshouse/${PLAIN}`,
    };
    await writeFile(join(folder, "opencode.json"), JSON.stringify(config));
    const lines = await run("opencode", ["run", "--format", "json", "Write a file by opencode."], {
      GLASSHOUSE_API_KEY: glasshouse.key,
      OPENCODE_DISABLE_MODELS_FETCH: "1",
    });
    const said = lines.filter(({ type }) => type === "text").map(({ part }) => part.text);
    assert.deepEqual(said, ["I write it.", "It has six bytes."]);
    assert.equal(await readFile(join(folder, "opencode.txt"), "utf8"), "hello\n");
    const [, read, counted, missing] = results(since, "by opencode", model === PLAIN);
    assert.match(read, /hello/);
    assert.match(counted, /6 opencode\.txt/);
    assert.match(missing, /not found/i);
  });
}

test("Codex with a custom tool, which the model's server knows as a function", async () => {
  const since = glasshouse.sent.length;
  const aliases = { [KNOWN_TO_CODEX]: PLAIN };
  await glasshouse.put("/api/v1/settings/model-aliases", { aliases });
  const lines = await runCodex(KNOWN_TO_CODEX, "Make a patch.");
  assert.deepEqual(saidBy(lines), ["I patch.", "It is patched."]);
  assert.equal(await readFile(join(folder, "patched.txt"), "utf8"), "hello\n");
  const tool = glasshouse.sent.at(-1).tools.find(({ function: { name } }) => name === "apply_patch");
  assert.deepEqual(tool.function.parameters.required, ["input"]);
  assert.match(tool.function.description, /lark grammar/);
  assert.match(results(since, "a patch").at(-1), /patched\.txt/);
});
