/**
 * Vite plugin: the pages of `docs/` as `documentation/….txt`, which the page shows. The reasons for decisions are for
 * developers and left out.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const folder = fileURLToPath(new URL("../../docs", import.meta.url));
const nameOf = (file: string) => `documentation/${file.replaceAll("\\", "/").replace(/\.md$/, ".txt")}`;

export function documentation(): Plugin {
  return {
    name: "documentation",
    async generateBundle() {
      const files = await readdir(folder, { recursive: true });
      const pages = files.filter((file) => file.endsWith(".md") && !file.startsWith("decisions"));
      for (const file of pages) {
        const source = await readFile(join(folder, file), "utf8");
        this.emitFile({ type: "asset", fileName: nameOf(file), source });
      }
    },
    configureServer(server) {
      server.middlewares.use("/documentation", (request, response, next) => {
        const page = /^\/([\w/-]+)\.txt$/.exec(request.url ?? "")?.[1];
        if (page === undefined) return next();
        readFile(join(folder, `${page}.md`), "utf8").then(
          (text) => response.setHeader("content-type", "text/plain; charset=utf-8").end(text),
          () => next(),
        );
      });
    },
  };
}
