/** A mock embedding server: counts the letters of each text. Its responses can be held back or fail. */
import { createServer } from "node:http";

const vector = (text, length) => {
  const counts = new Array(length).fill(0);
  for (const letter of text.toLowerCase()) counts[letter.codePointAt(0) % length] += 1;
  return counts;
};

/** `lengths` are the vector sizes of its models, by name. */
export async function startEmbedder(lengths) {
  /** Pending requests, and whether to hold them back. */
  const held = { isOn: false, waiting: [] };
  const server = createServer(async (request, response) => {
    const send = (status, body) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.url.endsWith("/models")) {
      const data = Object.keys(lengths).map((id) => ({ id, object: "model" }));
      return send(200, { object: "list", data });
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const { model, input } = JSON.parse(Buffer.concat(parts).toString());
    const length = lengths[model];
    if (!length) return send(400, { error: { message: `${model} does not embed.` } });
    // A single text, as in a connection test, is not held back.
    if (held.isOn && input.length > 1) await new Promise((go) => held.waiting.push(go));
    send(200, { data: input.map((text, index) => ({ index, embedding: vector(text, length) })) });
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    hold: () => (held.isOn = true),
    release() {
      held.isOn = false;
      for (const go of held.waiting.splice(0)) go();
    },
    stop() {
      this.release();
      server.closeAllConnections();
      return new Promise((ended) => server.close(ended));
    },
  };
}
