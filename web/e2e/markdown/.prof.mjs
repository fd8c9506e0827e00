import { buildPage, openPage } from "/work/main/web/e2e/markdown/browser.mjs";
const kind = process.argv[2],
  rate = +(process.argv[3] ?? 1000),
  chars = +(process.argv[4] ?? 40000);
const folder = await buildPage();
const { page, context, origin, close } = await openPage(folder);
const cdp = await context.newCDPSession(page);
await page.goto(origin);
await page.waitForFunction("window.page");
const ev = [];
cdp.on("Tracing.dataCollected", ({ value }) => ev.push(...value));
await cdp.send("Tracing.start", {
  traceConfig: {
    includedCategories: ["devtools.timeline", "toplevel", "__metadata"],
    excludedCategories: ["*"],
  },
  transferMode: "ReportEvents",
});
await cdp.send("Profiler.enable");
if (!process.env.NOPROF) {
  await cdp.send("Profiler.setSamplingInterval", { interval: 500 });
  await cdp.send("Profiler.start");
}
await page.evaluate(([c, k, r]) => window.page.stream(window.page.answer(c, k), r), [chars, kind, rate]);
await page.waitForTimeout(500);
if (!process.env.NOPROF) {
  const { profile } = await cdp.send("Profiler.stop");
  const self = {};
  const dt = profile.timeDeltas;
  const byId = new Map(profile.nodes.map((n) => [n.id, n]));
  profile.samples.forEach((id, i) => {
    const n = byId.get(id);
    const k =
      n.callFrame.functionName +
      " " +
      n.callFrame.url.split("/").pop() +
      ":" +
      n.callFrame.lineNumber +
      ":" +
      n.callFrame.columnNumber;
    self[k] = (self[k] ?? 0) + dt[i] / 1000;
  });
  for (const [k, v] of Object.entries(self)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 28))
    console.log(v.toFixed(0), k);
}
const done = new Promise((r) => cdp.once("Tracing.tracingComplete", r));
await cdp.send("Tracing.end");
await done;
const mains = new Set(
  ev.filter((e) => e.ph === "M" && e.args?.name === "CrRendererMain").map((e) => e.pid + ":" + e.tid),
);
const tasks = ev
  .filter((e) => e.ph === "X" && e.name === "ThreadControllerImpl::RunTask" && mains.has(e.pid + ":" + e.tid))
  .sort((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
  .slice(0, 4);
const t0 = Math.min(...ev.filter((e) => e.ts > 0).map((e) => e.ts));
for (const t of tasks) {
  console.log(
    "TASK",
    (t.tdur / 1000).toFixed(0),
    "cpu",
    (t.dur / 1000).toFixed(0),
    "wall at",
    ((t.ts - t0) / 1e6).toFixed(1),
  );
  const inner = ev.filter(
    (e) =>
      e.ph === "X" &&
      e.tid === t.tid &&
      e.pid === t.pid &&
      e.ts >= t.ts &&
      e.ts < t.ts + t.dur &&
      e !== t &&
      (e.tdur ?? 0) > 3000,
  );
  for (const e of inner.slice(0, 8))
    console.log(
      "   ",
      e.name,
      (e.tdur / 1000).toFixed(1),
      JSON.stringify(e.args?.beginData ?? e.args?.data ?? {}).slice(0, 140),
    );
}
await close();
