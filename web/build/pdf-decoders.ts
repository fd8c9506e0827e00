/**
 * Vite plugin: adds the decoders of pdf.js for JBIG2 and JPEG 2000 images to the build. Its worker imports them by name from
 * one folder, so their names have no hash; the folder has the version of pdf.js instead.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "vite";

const manifest = createRequire(import.meta.url).resolve("pdfjs-dist/package.json");
/** In plain JavaScript: the page's policy forbids WebAssembly. */
const decoders = ["jbig2_nowasm_fallback.js", "openjpeg_nowasm_fallback.js"];

export function pdfDecoders(): Plugin {
  let folder = "";
  return {
    name: "pdf-decoders",
    async config() {
      const { version } = JSON.parse(await readFile(manifest, "utf8")) as { version: string };
      folder = `assets/pdf-${version}`;
      return { define: { __PDF_DECODERS__: JSON.stringify(`/${folder}/`) } };
    },
    async generateBundle() {
      for (const name of decoders) {
        const source = await readFile(join(dirname(manifest), "wasm", name));
        this.emitFile({ type: "asset", fileName: `${folder}/${name}`, source });
      }
    },
  };
}
