import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
// node zz-montage.mjs out.png width a.png b.png ...
const [out, width, ...files] = process.argv.slice(2);
const b = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const p = await b.newPage({ viewport: { width: Number(width), height: 400 } });
await p.setContent(`<style>body{margin:0;background:#888;display:flex;gap:6px;align-items:start;font:11px sans-serif}figure{margin:0;flex:1;min-width:0}img{width:100%;display:block}</style>` + files.map((f) => `<figure>${f.split("/").slice(-2).join("/")}<img src="data:image/png;base64,${readFileSync(f).toString("base64")}"></figure>`).join(""));
await p.waitForTimeout(300);
await p.screenshot({ path: out, fullPage: true });
await b.close();
