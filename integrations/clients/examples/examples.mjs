/** Runs the programs of examples/ as a person would, and cuts their first connection where a test asks for that. */
import { spawn } from "node:child_process";
import { createServer, connect } from "node:net";
import { fileURLToPath } from "node:url";

/** The folder of an example. */
export const folderOf = (example) => fileURLToPath(new URL(`../../../examples/${example}/`, import.meta.url));

/** A path that `cargo xtask test --clients` hands on. */
export function needed(name) {
  const path = process.env[name];
  if (!path) throw new Error(`${name} is not set: run these tests with \`cargo xtask test --clients\``);
  return path;
}

/**
 * Runs a program to its end with the server's address and key in its environment; returns what it printed. `input` is
 * typed once the program has started.
 */
export async function run(command, args, { example, glasshouse, url = glasshouse.url, key = glasshouse.key, input = "" }) {
  const child = spawn(command, args, {
    cwd: folderOf(example),
    env: { ...process.env, GLASSHOUSE_URL: url, GLASSHOUSE_KEY: key, PYTHONDONTWRITEBYTECODE: "1" },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.stdin.end(input);
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout, stderr };
}

/** Passes connections on to the server; the first is cut once `bytes` of the answer have come. */
export async function startCuttingProxy(url, bytes) {
  const { hostname, port } = new URL(url);
  let connections = 0;
  const open = new Set();
  const server = createServer((client) => {
    const cuts = connections++ === 0;
    const upstream = connect(Number(port), hostname);
    let received = 0;
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (data) => {
      received += data.length;
      client.write(data);
      if (cuts && received >= bytes) client.destroy();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    connections: () => connections,
    stop() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
