/** The reference servers of MCP, unchanged, behind the real program: over stdio and over streamable HTTP. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { calls, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { answering, follow, of, play, results, say, untilState } from "./runs.mjs";

const EVERYTHING = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const FILES = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));

const one = (name, args) => [turn(calls([name, args])), turn(text("Done."))];
const CASES = [
  { contains: "Echo over", turns: one("web__echo", { message: "over HTTP" }) },
  { contains: "Echo", turns: one("everything__echo", { message: "ёж 🦔" }) },
  {
    contains: "Show all kinds",
    turns: [
      turn(
        calls(
          ["everything__get-tiny-image", {}],
          ["everything__get-structured-content", { location: "Chicago" }],
          ["everything__get-resource-links", { count: 2 }],
          ["everything__get-resource-reference", { resourceType: "Blob", resourceId: 1 }],
          ["everything__get-sum", { a: "no number", b: 2 }],
        ),
      ),
      turn(text("Done.")),
    ],
  },
  { contains: "Work long", turns: one("everything__trigger-long-running-operation", { duration: 2, steps: 4 }) },
  { contains: "Work for a minute", turns: one("everything__trigger-long-running-operation", { duration: 60, steps: 60 }) },
  { contains: "Ask over", turns: one("web__trigger-elicitation-request", {}) },
  { contains: "Ask", turns: one("everything__trigger-elicitation-request", {}) },
  { contains: "Show the environment", turns: one("everything__get-env", {}) },
  {
    contains: "Look at the files",
    turns: [turn(calls(["files__list_directory", { path: "." }], ["files__read_text_file", { path: "a.txt" }])), turn(text("Done."))],
  },
  { contains: "Write a file", turns: one("files__write_file", { path: "b.txt", content: "written" }) },
  { contains: "Let a helper echo", turns: one("task", { description: "Echo as a helper", subagent_type: "general" }) },
  { contains: "Do nothing", turns: [turn(text("Nothing."))] },
];

/** A port that was free a moment ago. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The everything server over HTTP; resolves once it listens. */
async function startWeb(port) {
  const child = spawn("node", [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise((resolve, reject) => {
    child.stderr.on("data", (said) => String(said).includes("listening") && resolve());
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return {
    async kill() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    },
  };
}

let folder, glasshouse, web, webPort;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "glasshouse-mcp-"));
  await writeFile(join(folder, "a.txt"), "what stands in a");
  webPort = await freePort();
  web = await startWeb(webPort);
  // It tells its number, so that it can be killed, and does not start while there is a file `closed`.
  const start = `cd "$0"; test -e closed && exit 1; echo $$ > pid; exec node "$1" stdio`;
  const config = `
[[mcp_servers]]
name = "everything"
command = "sh"
args = ["-c", ${JSON.stringify(start)}, ${JSON.stringify(folder)}, ${JSON.stringify(EVERYTHING)}]
env = { GREETING = "Hello \${MCP_TEST_NAME}" }

[[mcp_servers]]
name = "files"
command = "node"
args = [${JSON.stringify(FILES)}, ${JSON.stringify(folder)}]
folder = ${JSON.stringify(folder)}

[[mcp_servers]]
name = "web"
url = "http://127.0.0.1:${webPort}/mcp"
headers = { X-Key = "\${MCP_TEST_NAME}" }
tools = ["echo", "trigger-elicitation-request"]
approval = "never"
`;
  const file = join(folder, "glasshouse.toml");
  await writeFile(file, config);
  glasshouse = await startWithModel(CASES, { GLASSHOUSE_CONFIG: file, MCP_TEST_NAME: "Ada-4711", MCP_TEST_SECRET: "x" });
  await Promise.all(["everything", "files", "web"].map((name) => untilState(glasshouse, name, "connected")));
});

after(async () => {
  await glasshouse?.stop();
  await web?.kill();
  await rm(folder, { recursive: true, force: true });
});

describe("tools of MCP servers", () => {
  test("an administrator sees the servers and their tools", async () => {
    const { servers } = await glasshouse.get("/api/v1/mcp-servers");
    assert.deepEqual(
      servers.map(({ name, kind, state }) => [name, kind, state]),
      [
        ["everything", "stdio", "connected"],
        ["files", "stdio", "connected"],
        ["web", "http", "connected"],
      ],
    );
    const needsApproval = (server, name) => servers[server].tools.find((tool) => tool.name === name).needs_approval;
    assert.equal(needsApproval(0, "everything__echo"), false);
    assert.equal(needsApproval(0, "everything__trigger-elicitation-request"), true);
    assert.equal(needsApproval(1, "files__write_file"), true);
    assert.deepEqual(servers[2].tools.map((tool) => tool.name), ["web__echo", "web__trigger-elicitation-request"]);
    assert.deepEqual(servers.map((server) => server.problems), [[], [], []]);
  });

  test("a call and its result, over both ways, and from a helper", async () => {
    const bodies = await play(glasshouse, "Echo, please.");
    assert.deepEqual(results(bodies), ["Echo: ёж 🦔"]);
    assert.equal(of(bodies, "tool_started")[0].repeatable, true);
    assert.equal(of(bodies, "approval_asked").length, 0);
    assert.deepEqual(results(await play(glasshouse, "Echo over the web.")), ["Echo: over HTTP"]);
    assert.equal(results(await play(glasshouse, "Let a helper echo."))[0], "Echo: ёж 🦔");
  });

  test("pictures, structures, links and mistakes are told in words", async () => {
    const bodies = await play(glasshouse, "Show all kinds.");
    const named = Object.fromEntries(of(bodies, "tool_finished").map((body) => [body.name.split("__")[1], body]));
    assert.match(named["get-tiny-image"].result, /\[Image: \/results\/\S+\.png, image\/png, \d+ bytes\]/);
    assert.deepEqual(Object.keys(JSON.parse(named["get-structured-content"].result)), ["temperature", "conditions", "humidity"]);
    assert.equal(named["get-resource-links"].result.match(/\[A resource: \S+ \(/g).length, 2);
    assert.match(named["get-resource-reference"].result, /\[(The resource|File|Image|Sound):? \S+[:,] \S+, \d+ bytes/);
    assert.equal(named["get-sum"].error, true);
    assert.match(named["get-sum"].result, /The arguments do not fit/);
  });

  test("a long operation shows how far it is", async () => {
    const bodies = await play(glasshouse, "Work long.");
    assert.deepEqual(of(bodies, "tool_progress").map((body) => body.message).slice(0, 2), ["1 of 4", "2 of 4"]);
    assert.match(results(bodies)[0], /completed/i);
  });

  test("a stopped run is told to the server", async () => {
    const run = await say(glasshouse, "Work for a minute.");
    const bodies = await follow(glasshouse, run, async (body) => {
      if (body.type === "tool_progress") await glasshouse.post(`/runs/${run}/cancel`, {});
    });
    assert.equal(bodies.at(-1).outcome, "cancelled");
    assert.equal(of(bodies, "tool_finished")[0].stopped, true);
    assert.deepEqual(results(await play(glasshouse, "Echo again.")), ["Echo: ёж 🦔"]);
  });

  for (const [words, way] of [["Ask me.", "stdio"], ["Ask over the web.", "HTTP"]]) {
    test(`a server's form is a question with the same form (${way})`, async () => {
      const values = {
        name: "Ada Lovelace",
        check: true,
        email: "ada@example.org",
        birthdate: "1815-12-10",
        integer: 36,
        number: 3.5,
        untitledSingleSelectEnum: "Phoebe",
        untitledMultipleSelectEnum: ["Piano", "Drums"],
        titledSingleSelectEnum: "hero-3",
        titledMultipleSelectEnum: ["fish-1", "fish-2"],
        legacyTitledEnum: "pet-1",
      };
      const run = await say(glasshouse, words);
      const allow = answering(glasshouse, run);
      const refusals = [];
      const bodies = await follow(glasshouse, run, async (body) => {
        if (body.type !== "question_asked") return allow(body);
        const send = (values) => glasshouse.post(`/runs/${run}/questions/${body.question}`, { values });
        for (const wrong of [{ integer: 1000 }, { email: "ada" }, { titledSingleSelectEnum: "hero-9" }]) {
          await send({ ...values, ...wrong }).catch((error) => refusals.push(error.message));
        }
        await send(values);
      });
      assert.deepEqual(refusals.map((words) => /: (\d+) .*"field":"(\w+)"/.exec(words)?.slice(1)), [
        ["422", "integer"],
        ["422", "email"],
        ["422", "titledSingleSelectEnum"],
      ]);
      const [asked, ...more] = of(bodies, "question_asked");
      assert.deepEqual(more, []);
      assert.equal(of(bodies, "approval_asked").length, way === "stdio" ? 1 : 0);
      assert.match(asked.text, /^(everything|web): Please provide inputs/);
      assert.equal(Object.keys(asked.schema.properties)[0], "name");
      assert.deepEqual(asked.schema.properties.titledSingleSelectEnum.oneOf[2], { const: "hero-3", title: "Wonder Woman" });
      const [result] = results(bodies);
      const { action, content } = JSON.parse(result.slice(result.indexOf("{")));
      assert.equal(action, "accept");
      assert.deepEqual({ ...content, ...values }, content);
    });
  }

  test("a form may be declined, and a run that asks may be stopped", async () => {
    assert.match(results(await play(glasshouse, "Ask me.", { "": { decline: true } }))[0], /declined/i);
    const run = await say(glasshouse, "Ask me.");
    const allow = answering(glasshouse, run);
    const bodies = await follow(glasshouse, run, async (body) => {
      if (body.type === "question_asked") await glasshouse.post(`/runs/${run}/cancel`, {});
      else await allow(body);
    });
    assert.equal(bodies.at(-1).outcome, "cancelled");
    assert.equal(of(bodies, "question_answered").length, 1);
  });

  test("a program gets the environment of its definition and nothing else", async () => {
    const environment = JSON.parse(results(await play(glasshouse, "Show the environment."))[0]);
    assert.equal(environment.GREETING, "Hello Ada-4711");
    const usual = ["GREETING", "HOME", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    assert.deepEqual(Object.keys(environment).filter((name) => !usual.includes(name)), []);
  });

  test("files are read freely and written with consent", async () => {
    // The two calls of one turn run side by side: which of them ends first is not told.
    const looked = of(await play(glasshouse, "Look at the files."), "tool_finished");
    const found = Object.fromEntries(looked.map((body) => [body.name, body.result]));
    assert.match(found.files__list_directory, /\[FILE\] a\.txt/);
    assert.equal(found.files__read_text_file, "what stands in a");
    const run = await say(glasshouse, "Write a file.");
    const bodies = await follow(glasshouse, run, async (body) => {
      if (body.type === "approval_asked") {
        await glasshouse.post(`/runs/${run}/approvals/${body.approval}`, { decision: "deny", reason: "not now" });
      }
    });
    assert.match(results(bodies)[0], /did not allow this call; the reason: not now/);
    await assert.rejects(readFile(join(folder, "b.txt")));
    const allowed = await play(glasshouse, "Write a file.");
    assert.equal(of(allowed, "tool_started")[0].repeatable, true, "the server says it is idempotent");
    assert.equal(await readFile(join(folder, "b.txt"), "utf8"), "written");
  });
});

describe("servers that fail", { concurrency: 1 }, () => {
  const killEverything = async () => process.kill(Number(await readFile(join(folder, "pid"), "utf8")), "SIGKILL");

  test("killed in the middle of a call, it is said, and the next run has it again", async () => {
    const run = await say(glasshouse, "Work for a minute.");
    const bodies = await follow(glasshouse, run, async (body) => {
      if (body.type === "tool_progress") await killEverything().catch(() => {});
    });
    assert.match(results(bodies)[0], /connection to the server was lost/);
    assert.equal(bodies.at(-1).outcome, "completed");
    await untilState(glasshouse, "everything", "connected");
    assert.deepEqual(results(await play(glasshouse, "Echo again.")), ["Echo: ёж 🦔"]);
  });

  test("while it is down, runs go on without its tools and say so; then it comes back", async () => {
    await writeFile(join(folder, "closed"), "");
    await killEverything();
    const down = await untilState(glasshouse, "everything", "down");
    assert.match(down.problems[0].message, /\S/);
    const bodies = await play(glasshouse, "Echo, please.");
    const notices = of(bodies, "notice").map((body) => body.message);
    assert.deepEqual(notices, ["The MCP server “everything” cannot be reached now, so this run goes on without its tools."]);
    assert.match(results(bodies)[0], /There is no tool everything__echo/);
    await rm(join(folder, "closed"));
    await untilState(glasshouse, "everything", "connected");
    assert.deepEqual(results(await play(glasshouse, "Echo again.")), ["Echo: ёж 🦔"]);
  });

  test("a web server that is restarted is found again", async () => {
    await web.kill();
    const bodies = await play(glasshouse, "Echo over the web.");
    assert.equal(of(bodies, "tool_finished")[0].error, true);
    await untilState(glasshouse, "web", "down");
    web = await startWeb(webPort);
    await untilState(glasshouse, "web", "connected");
    assert.deepEqual(results(await play(glasshouse, "Echo over the web.")), ["Echo: over HTTP"]);
  });

  test("a run that waits for consent finds its tool again after a restart of ours", async () => {
    await rm(join(folder, "b.txt"), { force: true });
    const run = await say(glasshouse, "Write a file.");
    const before = await follow(glasshouse, run, (body) => (body.type === "approval_asked" ? "stop" : undefined));
    await glasshouse.killAndStart();
    const { approval } = before.at(-1);
    const allow = () => glasshouse.post(`/runs/${run}/approvals/${approval}`, { decision: "allow" });
    // It asks again once it has found its tool.
    for (let tries = 0; !(await allow().then(() => true, () => false)); tries++) {
      assert.ok(tries < 300, "it never waited again");
      await sleep(100);
    }
    const bodies = await follow(glasshouse, run);
    assert.equal(bodies.at(-1).outcome, "completed");
    assert.equal(await readFile(join(folder, "b.txt"), "utf8"), "written");
  });
});
