// Builds the page, serves it on loopback and opens it in Debian's Chromium.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { chromium } from "@playwright/test";
import { build, runnerImport } from "vite";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".woff2": "font/woff2",
};
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --js-flags=--expose-gc";

/** The server's CSP, but with images from anywhere, so that it does not hide a leak. */
export const OPEN_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src * data:; connect-src *; font-src 'self'";

/** Builds into a new directory and returns its path. */
export async function buildPage() {
  const { module } = await runnerImport(join(import.meta.dirname, "../../build/render-frame.ts"));
  const outDir = await mkdtemp(join(tmpdir(), "markdown-page-"));
  await build({
    root: import.meta.dirname,
    configFile: false,
    logLevel: "error",
    base: "./",
    plugins: [
      svelte({ configFile: join(import.meta.dirname, "../../svelte.config.js") }),
      module.renderFrame(),
    ],
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
  });
  return outDir;
}

function serve(folder, headers) {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const body = await readFile(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/html", ...headers });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Opens the built page; `close` shuts everything down and removes the browser profile. */
export async function openPage(folder, { headers = {}, viewport = { width: 1280, height: 900 } } = {}) {
  const server = await serve(folder, headers);
  const origin = `http://127.0.0.1:${server.address().port}`;
  const profile = await mkdtemp(join(tmpdir(), "markdown-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: FLAGS.split(" "),
    viewport,
  });
  const page = await context.newPage();
  const close = async () => {
    await context.close();
    server.close();
    await rm(profile, { recursive: true, force: true });
  };
  return { page, context, origin, close };
}
