/**
 * Vite plugin: writes `name.br` (brotli 11) and `name.gz` (gzip 9) next to every text asset of the finished build.
 * The server embeds these two and not the asset itself. Browsers ask for brotli over TLS and on localhost only.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Plugin } from "vite";

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);
/** Those that crates/web_app leaves out. */
const textAsset = /\.(html|js|css|svg|json|txt|map|webmanifest)$/;

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
  };
  await writeFile(`${path}.br`, await toBrotli(plain, { params }));
  await writeFile(`${path}.gz`, await toGzip(plain, { level: 9 }));
}

export function compressAssets(): Plugin {
  let folder = "dist";
  return {
    name: "compress-assets",
    apply: "build",
    configResolved(config) {
      folder = config.build.outDir;
    },
    async closeBundle() {
      const files = await readdir(folder, { recursive: true });
      await Promise.all(
        files.filter((file) => textAsset.test(file)).map((file) => compressFile(join(folder, file))),
      );
    },
  };
}
