/**
 * Benchmarks the page with the real program: a long answer while streaming, its log in the debug panel, and opening a
 * long chat. `node e2e/measure.mjs` with GLASSHOUSE_BIN and SCRIPTED_MODEL_BIN; TOKENS and MESSAGES make it shorter,
 * TRACE=1 traces single tasks, which takes time itself. Results are CPU time of the page's main thread, which is valid
 * on a busy machine too.
 */
import { launch, openPage } from "./browser.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

const tokens = Number(process.env.TOKENS ?? 20_000);
const messages = Number(process.env.MESSAGES ?? 2_000);
const tokensPerSecond = 200;

const PARAGRAPHS = [
  "## Part {n}\n\nRivers **carry** silt to the sea, and `delta` is what is left: see [the map](https://example.org/map).\n\n",
  "- one thing and another\n- two things, *slowly*\n- three things at once\n\n",
  "| river | km | share |\n| :-- | --: | --: |\n| Rhine | 1233 | 12 % |\n| Elbe | 1094 | 11 % |\n\n",
  "```python\ndef flow(river, days=7):\n    return sum(day.volume for day in river.last(days)) / days\n```\n\n",
  "Реки несут ил к морю, и дельта — это то, что остаётся, когда вода уходит дальше.\n\n",
  "The flow is $Q = A \\cdot v$ and changes with the season.\n\n",
];

/** About `count` words of mixed Markdown. */
function answerOf(count) {
  let words = "";
  for (let n = 0, total = 0; total < count; n += 1) {
    const paragraph = PARAGRAPHS[n % PARAGRAPHS.length].replace("{n}", String(n));
    words += paragraph;
    total += paragraph.split(/(?<=[ \n])/).length;
  }
  return words;
}

const model = await startModel([
  { contains: "Long", turns: [turn(text(answerOf(tokens), tokensPerSecond))] },
  { turns: [turn(text("A short answer with **bold** words, `code` and a list:\n\n- one\n- two"))] },
]);
const glasshouse = await startGlasshouse();
const browser = await launch();
const page = await openPage(browser, { url: glasshouse.url });
const cdp = await page.context().newCDPSession(page);
await cdp.send("Performance.enable", { timeDomain: "threadTicks" });

async function mainThread() {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

/** Runs `work` and returns the main thread's CPU time in seconds, without the overhead of tracing tasks. */
async function untraced(work) {
  const before = await mainThread();
  const began = performance.now();
  await work();
  return { cpu: (await mainThread()) - before, wall: (performance.now() - began) / 1000 };
}

/** Runs `work` and returns the main thread's CPU time in seconds and its longest tasks in milliseconds. */
async function traced(work) {
  if (!process.env.TRACE) return untraced(work);
  const events = [];
  const keep = ({ value }) => events.push(...value);
  cdp.on("Tracing.dataCollected", keep);
  await cdp.send("Tracing.start", {
    traceConfig: { includedCategories: ["toplevel", "__metadata"], excludedCategories: ["*"] },
    transferMode: "ReportEvents",
  });
  const before = await mainThread();
  const began = performance.now();
  await work();
  const [cpu, wall] = [(await mainThread()) - before, (performance.now() - began) / 1000];
  const complete = new Promise((resolve) => cdp.once("Tracing.tracingComplete", resolve));
  await cdp.send("Tracing.end");
  await complete;
  cdp.off("Tracing.dataCollected", keep);
  const mains = new Set(
    events
      .filter(({ ph, args }) => ph === "M" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid}:${tid}`),
  );
  const tasks = events
    .filter(
      ({ ph, name, pid, tid }) =>
        ph === "X" && name === "ThreadControllerImpl::RunTask" && mains.has(`${pid}:${tid}`),
    )
    .map(({ tdur = 0 }) => tdur / 1000);
  return { cpu, wall, over50: tasks.filter((ms) => ms > 50).length, longest: Math.max(0, ...tasks) };
}

const api = (path, body) =>
  page.evaluate(
    async ([path, body]) => {
      const answer = await fetch(path, { method: "POST", body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      return answer.json();
    },
    [path, body],
  );

/** Creates a chat with this many messages through the API, which is faster than through the page. */
async function longChat(count) {
  const { id } = await api("/api/v1/chats", { title: "A long chat" });
  return page.evaluate(
    async ([id, exchanges]) => {
      let parent = null;
      for (let n = 0; n < exchanges; n += 1) {
        const body = JSON.stringify({
          parent,
          content: `Question ${n}: what about the rivers?`,
          model: "scripted",
        });
        const begun = await (await fetch(`/api/v1/chats/${id}/messages`, { method: "POST", body })).json();
        await (await fetch(`/runs/${begun.run}/events`)).text();
        parent = begun.assistant.id;
      }
      return id;
    },
    [id, count / 2],
  );
}

function row(what, figure, unit, aim) {
  const verdict = aim === undefined ? "" : `aim ≤ ${aim} ${unit}, ${figure <= aim ? "met" : "MISSED"}`;
  console.log(`  ${what.padEnd(46)} ${figure.toFixed(2).padStart(10)} ${unit.padEnd(4)} ${verdict}`);
}

try {
  await page.goto("/");
  await page.waitForURL("**/setup");
  await api("/api/v1/setup", { email: "ada@example.org", name: "Ada", password: "correct horse" });
  await api("/api/v1/connections", { name: "Scripted", base_url: model.url });
  await page.goto("/");
  await page.locator("#composer").fill("Long");
  await page.locator(".send").click();
  await page.locator("article.assistant .answer").first().waitFor();
  const streamed = await traced(() => page.locator(".facts").waitFor({ timeout: 0 }));
  console.log(
    `\nAn answer of ${tokens} tokens at ${tokensPerSecond} a second, over the network, ${streamed.wall.toFixed(0)} s`,
  );
  row("main thread busy", (100 * streamed.cpu) / streamed.wall, "%", 8);
  if (process.env.TRACE) {
    row("tasks over 50 ms of processor time", streamed.over50, "", 0);
    row("longest task", streamed.longest, "ms");
  }

  await page.getByRole("button", { name: "Open panel" }).click();
  const panelled = await traced(async () => {
    await page.getByRole("tab", { name: "Debug" }).click();
    await page.locator(".debug [data-state=complete]").waitFor({ timeout: 60_000 });
  });
  const found = await traced(async () => {
    await page.locator(".debug [type=search]").fill("delta");
    await page.locator(".debug mark").first().waitFor();
  });
  console.log(`\nThe debug panel with this run: ${await page.locator(".debug .count").innerText()}`);
  row("open, processor time", panelled.cpu, "s", 0.5);
  row("open, on the clock", panelled.wall, "s");
  if (process.env.TRACE) row("open, longest task", panelled.longest, "ms");
  row("search, processor time", found.cpu, "s", 0.1);
  row("elements in the page", await page.evaluate(() => document.querySelectorAll("*").length), "");
  await page.getByRole("button", { name: "Close panel" }).first().click();

  const chat = await longChat(messages);
  await page.goto("/settings/general");
  await page.locator("h1").waitFor();
  const opened = await traced(async () => {
    await page.evaluate((path) => {
      history.pushState(null, "", path);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/c/${chat}`);
    await page.getByText(`Question ${messages / 2 - 1}:`).waitFor({ timeout: 60_000 });
  });
  console.log(`\nA chat of ${messages} messages`);
  row("open, processor time", opened.cpu, "s", 0.5);
  row("open, on the clock", opened.wall, "s");
  row("elements in the page", await page.evaluate(() => document.querySelectorAll("*").length), "");
} finally {
  await browser.close();
  await Promise.all([glasshouse.stop(), model.stop()]);
}
