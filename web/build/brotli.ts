/** Vite plugin: writes `name.br` (brotli 11) next to every text asset of the finished build. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { Plugin } from "vite";

const compress = promisify(brotliCompress);
const textAsset = /\.(html|js|css|svg|json|txt|map|webmanifest)$/;

async function compressFile(path: string): Promise<void> {
  const plain = await readFile(path);
  const packed = await compress(plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  });
  await writeFile(`${path}.br`, packed);
}

export function brotliAssets(): Plugin {
  let folder = "dist";
  return {
    name: "brotli-assets",
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
