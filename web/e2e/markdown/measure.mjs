// Benchmarks a streamed answer: node e2e/markdown/measure.mjs
// CASES=mixed,table picks cases, CHARS=80000 the length, RATE=200 tokens a second for the mixed answer.
// Times are CPU time of the page's main thread, so that a busy machine does not change them much.

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { buildPage, openPage } from "./browser.mjs";

const CHARS = Number(process.env.CHARS ?? 80_000);
const RATE = Number(process.env.RATE ?? 200);
const GIANT_RATE = 1000;
const CASES = (process.env.CASES ?? "mixed,code,paragraph,table,list,nested,quote,atonce").split(",");

const folder = await buildPage();
try {
  await printSizes(folder);
  const rows = [];
  for (const name of CASES) rows.push(await measure(name));
  console.table(rows);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function printSizes(dist) {
  const files = await readdir(join(dist, "assets"));
  const rows = [];
  for (const file of files.filter((name) => /\.(?:js|css)$/.test(name))) {
    const bytes = await readFile(join(dist, "assets", file));
    rows.push({ file, "KB gz": +(gzipSync(bytes, { level: 9 }).length / 1024).toFixed(1) });
  }
  rows.sort((a, b) => b["KB gz"] - a["KB gz"]);
  const html = await readFile(join(dist, "index.html"), "utf8");
  console.log("first load");
  console.table(rows.filter(({ file }) => html.includes(file)));
  console.log("lazy, largest ten of " + rows.length);
  console.table(rows.filter(({ file }) => !html.includes(file)).slice(0, 10));
}

async function measure(name) {
  const { page, context, origin, close } = await openPage(folder);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(origin);
  await page.waitForFunction("window.page");
  await warmUp(page);
  const tasks = await traceTasks(cdp);
  const before = await metrics(cdp);
  const start = performance.now();
  const rate = name === "mixed" ? RATE : GIANT_RATE;
  const kind = name === "atonce" ? "mixed" : name;
  if (name === "atonce")
    await page.evaluate(([chars]) => window.page.show(window.page.answer(chars, "mixed")), [CHARS]);
  else
    await page.evaluate(
      ([chars, k, r]) => window.page.stream(window.page.answer(chars, k), r),
      [CHARS, kind, rate],
    );
  await page.waitForTimeout(500);
  const wallSeconds = (performance.now() - start) / 1000;
  const after = await metrics(cdp);
  const times = await tasks();
  await cdp.send("HeapProfiler.enable");
  await cdp.send("HeapProfiler.collectGarbage");
  const heap = (await metrics(cdp)).JSHeapUsedSize;
  await close();
  const cpu = after.TaskDuration - before.TaskDuration;
  return {
    case: name,
    seconds: +wallSeconds.toFixed(1),
    "CPU s": +cpu.toFixed(2),
    "busy %": +((cpu / wallSeconds) * 100).toFixed(1),
    "script s": +(after.ScriptDuration - before.ScriptDuration).toFixed(2),
    "layout+style s": +(
      after.LayoutDuration +
      after.RecalcStyleDuration -
      before.LayoutDuration -
      before.RecalcStyleDuration
    ).toFixed(2),
    "> 50 ms": times.filter((ms) => ms > 50).length,
    "> 16 ms": times.filter((ms) => ms > 16).length,
    "longest ms": +(times[0] ?? 0).toFixed(0),
    "heap MB": +(heap / 1048576).toFixed(1),
  };
}

/** Loads one-time resources (KaTeX, the worker), so that the run measures streaming. */
async function warmUp(page) {
  await page.evaluate(() =>
    window.page.show("$x$ and\n\n```rust\nlet a = 1;\n```\n\n" + window.page.answer(3000, "mixed")),
  );
  await page.waitForSelector(".katex");
  await page.waitForSelector(".hljs-keyword");
  await page.evaluate(() => window.page.show(""));
  await page.waitForTimeout(500);
}

async function metrics(cdp) {
  const { metrics: list } = await cdp.send("Performance.getMetrics");
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

/** Starts tracing; the returned function stops it and returns the main thread's tasks in CPU ms, longest first. */
async function traceTasks(cdp) {
  const events = [];
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  await cdp.send("Tracing.start", {
    traceConfig: {
      recordMode: "recordUntilFull",
      traceBufferSizeInKb: 400_000,
      includedCategories: ["toplevel", "__metadata"],
      excludedCategories: ["*"],
    },
    transferMode: "ReportEvents",
  });
  return async () => {
    const complete = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
    await cdp.send("Tracing.end");
    await complete;
    const thread = ({ pid, tid }) => `${pid}:${tid}`;
    const named = events.filter(
      (e) => e.ph === "M" && e.name === "thread_name" && e.args?.name === "CrRendererMain",
    );
    const byThread = new Map(named.map((e) => [thread(e), []]));
    for (const e of events) {
      if (e.ph === "X" && e.name === "ThreadControllerImpl::RunTask" && e.tdur)
        byThread.get(thread(e))?.push(e.tdur / 1000);
    }
    const sum = (list) => list.reduce((total, ms) => total + ms, 0);
    const [busiest = []] = [...byThread.values()].sort((a, b) => sum(b) - sum(a));
    return busiest.sort((a, b) => b - a);
  };
}
