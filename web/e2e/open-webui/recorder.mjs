/** A transparent proxy in front of a model server that records request bodies. */
import { createServer, request } from "node:http";

export async function startRecorder(base) {
  const target = new URL(base);
  const bodies = [];
  const server = createServer(async (asked, answer) => {
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (body.length > 0) bodies.push(JSON.parse(body));
    const { hostname, port } = target;
    const passed = request({ hostname, port, path: asked.url, method: asked.method, headers: asked.headers });
    // A disconnect on either side is passed on to the other.
    answer.once("close", () => passed.destroy());
    passed.once("error", () => answer.destroy());
    passed.once("response", (response) => {
      answer.writeHead(response.statusCode, response.headers);
      response.on("error", () => answer.destroy());
      response.pipe(answer);
    });
    passed.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${target.pathname}`,
    /** Requests since the last call. */
    take: () => bodies.splice(0),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
