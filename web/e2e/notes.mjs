/** An MCP server with its own sign-in page: the name entered there selects the notes returned. */
import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

export async function startNotes() {
  const codes = new Map();
  const logins = new Map();
  let own;

  /** Response for each path: status, JSON or page, and headers. */
  const answers = {
    "/.well-known/oauth-protected-resource/mcp": () => [
      200,
      { resource: `${own}/mcp`, authorization_servers: [own] },
    ],
    "/.well-known/oauth-authorization-server": () => [
      200,
      {
        issuer: own,
        authorization_endpoint: `${own}/authorize`,
        token_endpoint: `${own}/token`,
        registration_endpoint: `${own}/register`,
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      },
    ],
    "/register": () => [201, { client_id: "glasshouse" }],
    "/authorize": (url) => {
      const asked = Object.fromEntries(url.searchParams);
      const back = new URL(asked.redirect_uri);
      back.searchParams.set("state", asked.state);
      if (asked.login === undefined) {
        const kept = Object.entries(asked).map(([name, value]) => {
          return `<input type="hidden" name="${name}" value="${value.replaceAll('"', "&quot;")}" />`;
        });
        const form = `<form>${kept.join("")}<label>Who are you? <input name="login" /></label>`;
        return [200, `<!doctype html><title>Notes</title>${form}<button>Allow</button></form>`];
      }
      if (asked.login === "") back.searchParams.set("error", "access_denied");
      else {
        const code = randomUUID();
        codes.set(code, asked);
        back.searchParams.set("code", code);
      }
      return [302, "", { location: back.href }];
    },
    "/token": (_, text) => {
      const form = new URLSearchParams(text);
      const asked = codes.get(form.get("code"));
      codes.delete(form.get("code"));
      const proof = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      if (asked?.code_challenge !== proof) return [400, { error: "invalid_grant" }];
      const access_token = randomUUID();
      logins.set(access_token, asked.login);
      return [200, { access_token, token_type: "Bearer" }];
    },
    "/mcp": (_, text, request) => {
      const login = logins.get((request.headers.authorization ?? "").replace("Bearer ", ""));
      if (login === undefined) {
        const about = `${own}/.well-known/oauth-protected-resource/mcp`;
        return [401, {}, { "www-authenticate": `Bearer resource_metadata="${about}"` }];
      }
      if (request.method !== "POST") return [405, {}];
      const { id, method } = JSON.parse(text);
      if (id === undefined) return [202, ""];
      const tool = {
        name: "read",
        description: `Reads the notes of ${login}.`,
        inputSchema: { type: "object" },
        annotations: { readOnlyHint: true },
      };
      const results = {
        initialize: {
          protocolVersion: "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "notes", version: "1" },
        },
        "tools/list": { tools: [tool] },
        "tools/call": { content: [{ type: "text", text: `${login} wrote: buy milk.` }] },
        ping: {},
      };
      return [200, { jsonrpc: "2.0", id, result: results[method] }];
    },
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, own);
    const answer = answers[url.pathname]?.(url, await bodyOf(request), request) ?? [204, ""];
    const [status, body, headers = {}] = answer;
    const isPage = typeof body === "string";
    response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json", ...headers });
    response.end(isPage ? body : JSON.stringify(body));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  own = `http://127.0.0.1:${server.address().port}`;
  return {
    url: `${own}/mcp`,
    /** Invalidates all sign-ins. */
    forget: () => logins.clear(),
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
