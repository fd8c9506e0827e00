/** Drops KaTeX's woff and ttf fonts from the build: every supported browser reads woff2. */
import type { Plugin } from "vite";

export function katexFonts(): Plugin {
  return {
    name: "katex-fonts",
    enforce: "pre",
    transform(code, id) {
      if (!/\/katex\/dist\/katex(?:\.min)?\.css/.test(id)) return;
      return { code: code.replace(/,\s*url\([^)]+\.(?:woff|ttf)\)\s*format\(["']\w+["']\)/g, ""), map: null };
    },
  };
}
