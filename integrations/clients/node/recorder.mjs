/** Stands before a model server and keeps the bodies it is sent. */
import http from "node:http";

/** Passes everything on to `target`, as it comes; `bodies` are the JSON that was posted. */
export async function startRecorder(target) {
  const { host, hostname, port, pathname } = new URL(target);
  const bodies = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (request.method === "POST") bodies.push(JSON.parse(body));
    const { method, url: path, headers } = request;
    const onward = http.request({ hostname, port, method, path, headers: { ...headers, host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}${pathname}`,
    bodies,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
