/** Bundles a script of the page that stands alone. */
import { build } from "vite";

/** One classic script with all that `entry` imports. */
export async function bundle(entry: string): Promise<string> {
  const result = await build({
    configFile: false,
    publicDir: false,
    logLevel: "error",
    build: {
      write: false,
      target: "es2022",
      modulePreload: false,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 5000,
      rollupOptions: { input: entry, output: { format: "iife" } },
    },
  });
  const outputs = Array.isArray(result) ? result : [result];
  const files = outputs.flatMap((output) => ("output" in output ? output.output : []));
  const [script, ...rest] = files;
  if (script?.type !== "chunk" || rest.length > 0) throw new Error(`${entry} is not one script`);
  return script.code;
}
