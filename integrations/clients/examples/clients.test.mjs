/** The clients of examples/ against the real program: what they print, what they send, and that they resume. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { calls, text, turn } from "../../../web/e2e/programs.mjs";
import { startWithModel } from "../node/glasshouse.mjs";
import { needed, run, startCuttingProxy } from "./examples.mjs";

const WORDS = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.";
const CASES = [
  { contains: "slowly", turns: [turn(calls(["ls", { path: "/" }])), turn(text(WORDS, 30))] },
  { turns: [turn(calls(["ls", { path: "/" }])), turn(text("There are no files."))] },
];
const ANSWER = "There are no files.\ncompleted, 240 + 80 tokens\n";

const PYTHON = needed("EXAMPLES_PYTHON");
const RUST = needed("EXAMPLES_RUST_CLIENT");

let glasshouse;

before(async () => {
  glasshouse = await startWithModel(CASES);
});

after(() => glasshouse?.stop());

/** Clients of /chat/stream: each with how it is started. */
const STREAMING = {
  python: (...args) => [PYTHON, ["chat_stream.py", ...args]],
  typescript: (...args) => ["npm", ["run", "--silent", "stream", "--", ...args]],
  rust: (...args) => [RUST, args],
};

/** Clients of /v1/chat/completions. */
const COMPLETIONS = {
  python: (...args) => [PYTHON, ["chat_completions.py", ...args]],
  typescript: (...args) => ["npm", ["run", "--silent", "completions", "--", ...args]],
};

async function succeed(command, args, options) {
  const { code, stdout, stderr } = await run(command, args, { glasshouse, ...options });
  assert.equal(code, 0, `${stdout}\n${stderr}`);
  return stdout;
}

const frames = (stdout) =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)));

describe("curl", () => {
  test("asks with any characters in the message, and follows the run from an event on", async () => {
    const message = String.raw`Which "files" are in C:\temp, ёж?`;
    const asked = await succeed("./ask.sh", [message, "scripted"], { example: "curl" });
    const sent = glasshouse.sent.at(-1).messages.findLast(({ role }) => role === "user").content;
    assert.ok(sent.includes(message), JSON.stringify(sent));
    const all = frames(asked);
    assert.equal(all.filter(({ type }) => type === "token").map(({ data }) => data.content).join(""), "There are no files.");
    const { type, data } = all.at(-1);
    assert.equal(type, "done");

    const again = await succeed("./follow.sh", [data.run_id], { example: "curl" });
    assert.deepEqual(frames(again).at(-1), all.at(-1));
    const ids = again.match(/^id: \d+$/gm);
    const rest = await succeed("./follow.sh", [data.run_id, ids.at(-2).slice(4)], { example: "curl" });
    assert.ok(frames(rest).length < frames(again).length);
    assert.deepEqual(frames(rest).at(-1), all.at(-1));
  });

  test("fails with the server's words", async () => {
    const { code, stdout } = await run("./ask.sh", ["Hi"], { example: "curl", glasshouse, key: "gh_wrong" });
    assert.notEqual(code, 0);
    assert.match(stdout, /unauthenticated|key/);
  });
});

for (const [example, command] of Object.entries(COMPLETIONS)) {
  test(`${example}: the openai package asks an agent`, async () => {
    for (const model of [[], ["glasshouse/agent"]]) {
      assert.equal(await succeed(...command("Which files are there?", ...model), { example }), "There are no files.\n");
    }
  });
}

for (const [example, command] of Object.entries(STREAMING)) {
  describe(`${example}: /chat/stream`, () => {
    test("shows tool calls and the answer", async () => {
      const shown = await succeed(...command("Which files are there?", "scripted"), { example });
      assert.match(shown, /^→ ls\(\{"path": ?"\/"\}\)\n✓ ls: .*\n/);
      assert.ok(shown.endsWith(ANSWER), shown);
    });

    test("resumes after a lost connection without losing or repeating a word", async () => {
      // The headers and the first frames fit; the answer alone has more than this.
      const proxy = await startCuttingProxy(glasshouse.url, 1500);
      try {
        const shown = await succeed(...command("Count slowly", "scripted"), { example, url: proxy.url });
        assert.ok(shown.includes(WORDS), shown);
        assert.equal(shown.match(/→ ls/g).length, 1);
        assert.ok(proxy.connections() > 1, "the connection was not cut");
      } finally {
        await proxy.stop();
      }
    });

    test("fails with the server's words", async () => {
      const { code, stdout, stderr } = await run(...command("Hi", "none-such"), { example, glasshouse });
      assert.notEqual(code, 0);
      assert.match(stdout + stderr, /none-such/);
    });
  });
}

test("python: asks for approval at the terminal", async () => {
  const answer = (input) => succeed(...STREAMING.python("Show me around"), { example: "python", input });
  const [allowed, denied] = await Promise.all([answer("y\n"), answer("n\n")]);
  assert.match(allowed, /Allow edit_file with \{.*\}\? \[y\/N\]/);
  assert.match(allowed, /✓ edit_file/);
  assert.match(denied, /✗ edit_file/);
});

test("typescript: types hold", async () => {
  await succeed("npm", ["run", "--silent", "check"], { example: "typescript" });
});
