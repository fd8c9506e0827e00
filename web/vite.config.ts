/** Builds the page into `dist`, with a brotli and a gzip copy beside each text asset for the server to embed. */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { compressAssets } from "./build/compress.ts";
import { documentation } from "./build/documentation.ts";
import { katexFonts } from "./build/katex-fonts.ts";
import { pdfDecoders } from "./build/pdf-decoders.ts";
import { pushWorker } from "./build/push-worker.ts";
import { renderFrame } from "./build/render-frame.ts";

const server = process.env.GLASSHOUSE_URL ?? "http://127.0.0.1:8000";

export default defineConfig(({ mode }) => ({
  plugins: [
    svelte(),
    katexFonts(),
    renderFrame(),
    pushWorker(),
    documentation(),
    pdfDecoders(),
    compressAssets(),
  ],
  experimental: {
    // The server may be reached below a path: scripts and styles name their files relative to themselves. The page's
    // addresses stay absolute, as it is shown at many paths; the server puts its own path before them.
    renderBuiltUrl: (_file, { hostType }) => (hostType === "html" ? undefined : { relative: true }),
  },
  build: {
    target: "es2022",
    // For older ones, `:dir()` would become a list of languages, which says nothing about a text.
    cssTarget: ["chrome120", "firefox121", "safari16.4"],
    // Fonts and pictures stay files: the page's policy is `font-src 'self'`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What most parts of the page use is one file: each request of the first load costs more than its bytes.
        codeSplitting: { groups: [{ name: "common", minShareCount: 6 }] },
      },
    },
  },
  // Without this vitest would pick Svelte's server build.
  resolve: mode === "test" ? { conditions: ["browser"] } : {},
  server: { proxy: { "/api": server, "/runs": server, "/chat/": server } },
  test: {
    include: ["src/**/*.test.ts"],
    environment: "happy-dom",
    setupFiles: ["src/test/setup.ts"],
    testTimeout: 30_000,
    // By default, one processor core is left to others.
    maxWorkers: "100%",
  },
}));
