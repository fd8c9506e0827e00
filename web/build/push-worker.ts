/** Vite plugin: `push-worker.js`, the service worker. At the root, under a fixed name, so that it is for the whole page. */
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { bundle } from "./bundle.ts";

const entry = fileURLToPath(new URL("../src/push/worker.ts", import.meta.url));
const fileName = "push-worker.js";

export function pushWorker(): Plugin {
  let made: Promise<string> | undefined;
  return {
    name: "push-worker",
    async generateBundle() {
      this.emitFile({ type: "asset", fileName, source: await bundle(entry) });
    },
    /** In the dev server it is built on first request. */
    configureServer(server) {
      server.middlewares.use(`/${fileName}`, (_request, response, next) => {
        made ??= bundle(entry);
        made.then((code) => response.setHeader("content-type", "text/javascript").end(code), next);
      });
    },
  };
}
