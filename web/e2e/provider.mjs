/** A model provider with one recorded response. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Responds to each GET with the list of models, and to everything else with the recorded response; records the
 * requests.
 */
export async function startProvider({ models, answer, type = "application/json" }) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    await once(request, "end");
    if (request.method === "GET") {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(models));
    } else {
      asked.push(Buffer.concat(pieces).toString());
      response.setHeader("content-type", type);
      response.end(answer);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${server.address().port}`, asked, stop: () => server.close() };
}

/** Connects the provider as the user signed in on the page. */
export async function connectProvider(page, glasshouse, provider, kind) {
  const made = await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: kind, kind, base_url: provider.url, api_key: "sk-test" },
    headers: { origin: glasshouse.url },
  });
  assert.ok(made.ok(), await made.text());
}
