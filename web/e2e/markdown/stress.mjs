// Shows texts that make renderers slow, deep or wide, and prints how long each took:
// node e2e/markdown/stress.mjs
// CASES=emphasis,table picks by part of the name. Fails if a task blocked the page for longer than LONGEST_MS, or a
// text was incomplete in the end. FOLDER names a directory of further texts, one per file.

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { buildPage, openPage } from "./browser.mjs";

const LONGEST_MS = Number(process.env.LONGEST_MS ?? 2000);
const GIVE_UP_MS = Number(process.env.GIVE_UP_MS ?? 30_000);
const CASES = process.env.CASES?.split(",");

const folder = await buildPage();
let opened = await open();
const names = await opened.page.evaluate(() => Object.keys(window.page.stress));
const given = process.env.FOLDER
  ? await Promise.all(
      (await readdir(process.env.FOLDER)).map(async (name) => [
        name,
        await readFile(join(process.env.FOLDER, name), "utf8"),
      ]),
    )
  : [];
const rows = [];
try {
  for (const [name, text] of [...names.map((name) => [name]), ...given]) {
    if (CASES && !CASES.some((part) => name.includes(part))) continue;
    rows.push(await measure(name, text));
    const row = rows.at(-1);
    console.log([row.name.padEnd(36), row.ms, row.longest, row.elements, row.problem].join("\t"));
  }
} finally {
  await opened.close();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = rows.some(({ problem, longest }) => problem || longest > LONGEST_MS) ? 1 : 0;

async function open() {
  const all = await openPage(folder);
  await all.page.goto(all.origin);
  await all.page.waitForFunction("window.page");
  return all;
}

async function measure(name, text) {
  const { page } = opened;
  const failures = [];
  const note = (error) => failures.push(String(error).slice(0, 60));
  page.on("pageerror", note);
  const shown = page.evaluate(show, [name, text]).catch((error) => ({ problem: String(error).slice(0, 60) }));
  const late = new Promise((resolve) => setTimeout(() => resolve({ problem: "gave up" }), GIVE_UP_MS));
  const result = await Promise.race([shown, late]);
  page.off("pageerror", note);
  if (result.problem === "gave up") {
    // A page that hangs does not close by itself.
    await Promise.race([opened.close(), new Promise((resolve) => setTimeout(resolve, 3000))]);
    opened = await open();
  }
  return {
    name,
    ms: Math.round(result.ms ?? GIVE_UP_MS),
    longest: Math.round(result.longest ?? GIVE_UP_MS),
    elements: result.elements ?? 0,
    problem: [...failures, result.problem ?? ""].filter(Boolean).join("; "),
  };
}

/** In the page: shows a text and waits until nothing changes any more. */
async function show([name, given]) {
  const text = given ?? window.page.stress[name];
  const quietMs = 500;
  let longest = 0;
  const tasks = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
  });
  tasks.observe({ type: "longtask" });
  const start = performance.now();
  let last = start;
  const changes = new MutationObserver(() => (last = performance.now()));
  changes.observe(document.body, { subtree: true, childList: true, characterData: true });
  window.page.show("");
  window.page.show(text);
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    if (performance.now() - last > quietMs) break;
  }
  changes.disconnect();
  tasks.disconnect();
  const shown = document.body.textContent.replace(/\s/g, "").length;
  const words = text.replace(/[^a-z0-9]/gi, "").length;
  const elements = document.querySelectorAll("*").length;
  window.page.show("");
  return { ms: last - start, longest, elements, problem: shown === 0 && words > 0 ? "nothing is shown" : "" };
}
