/**
 * Vite plugin: `render-frame.html`, the document in which untrusted markup is rendered. Its only script is inlined,
 * because a document with an opaque origin sends no cookies, so an authenticating proxy would refuse it any file.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { bundle } from "./bundle.ts";

const entry = fileURLToPath(new URL("../src/render-frame/main.ts", import.meta.url));
const fileName = "render-frame.html";

/** The renderers as one script that can be inlined in a document. */
async function scriptOf(): Promise<string> {
  // These sequences occur only inside strings and patterns; either would end the script or begin an HTML comment.
  return (await bundle(entry)).replace(/<(?=\/script|!--|script)/gi, "\\x3C");
}

/** The server's CSP allows inline scripts in this document; its own CSP allows only this one. */
async function documentOf(): Promise<string> {
  const script = await scriptOf();
  const hash = createHash("sha256").update(script).digest("base64");
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="referrer" content="no-referrer">',
    "<title>Renderer</title><style>body{margin:0}</style></head><body>",
    `<script>${script}</script>`,
    "</body></html>",
    "",
  ].join("\n");
}

export function renderFrame(): Plugin {
  let made: Promise<string> | undefined;
  return {
    name: "render-frame",
    async generateBundle() {
      this.emitFile({ type: "asset", fileName, source: await documentOf() });
    },
    /** In the dev server it is built on first request. */
    configureServer(server) {
      server.middlewares.use(`/${fileName}`, (_request, response, next) => {
        made ??= documentOf();
        made.then((text) => response.setHeader("content-type", "text/html; charset=utf-8").end(text), next);
      });
    },
  };
}
