/** Scripted runs of the fake server, selected by a word in the message. */
import { Stopped } from "./run.mjs";

const answer = `Three catalogues fit, and **HYG 4.1** is the one to start with.

| Catalogue | Stars | Licence | Size |
| --- | ---: | --- | ---: |
| HYG 4.1 | 119,627 | CC BY-SA 4.0 | 34 MB |
| Tycho-2 | 2,539,913 | free of conditions | 502 MB |
| Gaia DR3 (subset) | 5,000,000 | credit line | 1.4 GB |

The brightness of a star falls with the square of its distance, $I = \\frac{L}{4 \\pi d^2}$, so a map that stops at magnitude 6.5 needs only a small part of each:

\`\`\`rust
/// Stars one can see without a telescope.
fn visible(stars: &[Star]) -> impl Iterator<Item = &Star> {
    stars.iter().filter(|star| star.magnitude <= 6.5)
}
\`\`\`

1. Ship HYG whole, with its credit on the about page.
2. Offer Tycho-2 as a download.
3. Leave Gaia for later: the credit line has to stand *on the map*.
`;

const longResult = Array.from(
  { length: 400 },
  (_, line) =>
    `${line + 1}: hyg_v41.csv row ${line * 311} magnitude ${(line % 90) / 10}, licence CC BY-SA 4.0`,
).join("\n");

const plan = (done) =>
  ["Find the catalogues", "Read their licences", "Compare", "Write the report", "Check the report"].map(
    (content, index) => ({
      content,
      status: index < done ? "completed" : index === done ? "in_progress" : "pending",
    }),
  );

async function reader(run, call, number, name, task, steps, work) {
  return run.agent(call, name, task, number, async (path) => {
    for (const [tool, args, result, options] of steps) {
      await run.tool(tool, args, result, { agent: path, ...options });
    }
    const extra = await work?.(path);
    const text = extra ?? `${name} is done: the terms allow shipping the data with a credit line.`;
    await run.text(text, { agent: path, answer: true });
    run.modelCalled(path);
    return text;
  });
}

/** A run so long that its older steps are summarised; the summary fails once. */
async function compact(run) {
  await run.tool("ls", { path: "/" }, "licences.md");
  run.modelCalled();
  run.push({
    type: "context_compacted",
    summary:
      "The person wants the licences of all star catalogues compared.\n\n- /licences.md holds the terms of HYG and Tycho-2.\n- Gaia DR3 asks for a credit line. Still to do: write the report.",
    messages: 41,
    kept_messages: 6,
    kept_requests: 1,
    tokens_before: 48_000,
    tokens_after: 6_000,
    model: "qwen3:8b",
    usage: { input_tokens: 40_120, output_tokens: 612 },
    duration_ms: 5200,
  });
  await run.tool("read_file", { path: "/licences.md" }, "Credit line.");
  run.push({
    type: "context_compacted",
    summary: "",
    messages: 12,
    kept_messages: 4,
    kept_requests: 1,
    tokens_before: 48_120,
    tokens_after: 9_300,
    model: "qwen3:8b",
    usage: { input_tokens: 0, output_tokens: 0 },
    duration_ms: 12,
  });
  await run.text("The report is written.", { answer: true });
  run.modelCalled();
}

/** Plan, files, two parallel sub-agents, a failing tool, an approval, a long result, an answer. */
async function tour(run) {
  run.status("Planning the work…");
  await run.reason(
    "The person wants a comparison. I should plan first, then read the sources in parallel, and write everything down in a file.",
  );
  await run.text("I'll plan the work, then send two readers out in parallel.");
  run.modelCalled();
  await run.tool("write_todos", { todos: plan(0) }, "5 tasks", { ms: 60 });
  run.push({ type: "plan_changed", todos: plan(0) });
  run.status("Searching…");
  await run.tool("grep", { path: "/", pattern: "open star catalogue licence" }, longResult, { ms: 500 });
  await run.tool(
    "read_file",
    { path: "/archive/index.md" },
    "There is no file /archive/index.md. Use ls to see what there is.",
    { error: true, ms: 200 },
  );
  run.push({ type: "plan_changed", todos: plan(1) });
  run.status("Two readers at work…");
  const tasks = [
    ["Licence reader", "Read the licences of HYG and Tycho-2 and quote the sentences that matter."],
    ["Catalogue reader", "Count the rows of each catalogue and note the sizes."],
  ];
  const calls = [];
  for (const [name, description] of tasks) {
    calls.push(await run.request("task", { description, subagent_type: name }));
  }
  await Promise.all([
    run.execute(calls[0], "task", { description: tasks[0][1] }, "The licences are read.", {
      before: (call) =>
        reader(
          run,
          call,
          1,
          tasks[0][0],
          tasks[0][1],
          [["read_file", { path: "/sources/hyg.md" }, "CC BY-SA 4.0", { ms: 300 }]],
          async (path) => {
            const args = { path: "/sources/licences.md", note: "share-alike applies" };
            const asked = await run.request("publish_note", args, path);
            const decided = await run.approval(asked, "publish_note", args, path);
            if (decided.decision === "deny") {
              run.finishTool(
                asked,
                "publish_note",
                args,
                `Denied: ${decided.reason ?? "no reason given"}`,
                true,
                0,
                path,
              );
              return "The note was not published; the licences are CC BY-SA 4.0 and free of conditions.";
            }
            await run.execute(asked, "publish_note", decided.arguments ?? args, "published", {
              agent: path,
              ms: 200,
            });
          },
        ),
      ms: 20,
    }),
    run.execute(calls[1], "task", { description: tasks[1][1] }, "The rows are counted.", {
      before: (call) =>
        reader(run, call, 2, tasks[1][0], tasks[1][1], [
          ["glob", { path: "/", pattern: "**/*.csv" }, "/data/hyg_v41.csv\n/data/tycho2.csv", { ms: 250 }],
          ["read_file", { path: "/data/hyg_v41.csv" }, "119627 rows", { ms: 350 }],
        ]),
      ms: 20,
    }),
  ]);
  run.push({ type: "plan_changed", todos: plan(3) });
  run.status("Writing the report…");
  run.modelCalled();
  const draft = answer.replace("Ship HYG whole", "Ship HYG").split("\n").slice(3).join("\n");
  for (const [version, text] of [draft, answer].entries()) {
    const [added_lines, removed_lines] = version === 0 ? [draft.split("\n").length - 1, 0] : [4, 1];
    const tool = version === 0 ? "write_file" : "edit_file";
    const args = version === 0 ? { content: text } : { old_text: "Ship HYG", new_text: "Ship HYG whole" };
    const before = () => {
      run.emit("file", { path: "/report.md", text });
      run.push({
        type: "file_changed",
        path: "/report.md",
        version: version + 1,
        size_bytes: Buffer.byteLength(text),
        added_lines,
        removed_lines,
      });
    };
    await run.tool(tool, { path: "/report.md", ...args }, "", { ms: 80, before });
  }
  run.push({ type: "plan_changed", todos: plan(5) });
  run.push({ type: "status", description: "", done: true, hidden: true });
  await run.text(answer, { answer: true, ms: 18 });
  run.modelCalled();
}

const dayMs = 86_400_000;

/** Calls a tool once a person has allowed it. */
async function callIfAllowed(run, name, args, result, more = {}) {
  const call = await run.request(name, args);
  const decided = await run.approval(call, name, args, [], { may_remember: true, ...more });
  if (decided.decision === "deny") {
    run.finishTool(call, name, args, `Denied: ${decided.reason ?? "no reason given"}`, true, 0, []);
  } else await run.execute(call, name, decided.arguments ?? args, result, { ms: 60 });
}

/** An approval of a tool of an MCP server, after a few steps. */
async function ticket(run) {
  await run.reason("First I look whether there is such a ticket.");
  await run.tool("tickets__list_tickets", { project: "web" }, "3 tickets", { ms: 60 });
  await run.text("There is no ticket for it yet, so I'll create one.");
  const args = {
    project: "web",
    title: "Login button is misaligned on phones",
    body: "On screens narrower than 400 px the button overlaps the footer.\n\nSteps:\n1. Open /login on a phone\n2. Look at the button",
    priority: 2,
    notify: true,
    labels: ["bug", "ui"],
    reporter: { name: "Ada", contact: { email: "ada@example.org" } },
  };
  await callIfAllowed(run, "tickets__create_ticket", args, "Created WEB-4", { expires_in_ms: 5 * dayMs });
  await run.text("The ticket is WEB-4.", { answer: true });
}

/** Several approvals and a question at the same time. */
async function several(run) {
  const text = `# Report\n\nA draft.\n\n${"A line in between.\n".repeat(9)}\nThe end.\n`;
  run.emit("file", { path: "/report.md", text });
  await run.tool("write_file", { path: "/report.md", content: text }, "Written.", { ms: 60 });
  const edit = (old_text, new_text) =>
    callIfAllowed(
      run,
      "edit_file",
      { path: "/report.md", old_text, new_text, replace_all: false },
      "Edited.",
    );
  const question = "Which format shall the report have?";
  await Promise.all([
    edit("A draft.", "The final version."),
    edit("The end.", "The end.\n\nAda"),
    callIfAllowed(
      run,
      "write_file",
      { path: "/notes/plan.py", content: "def plan():\n    return 42\n" },
      "Written.",
    ),
    callIfAllowed(run, "shell", { command: 'for file in *.md; do\n  wc -l "$file"\ndone' }, "15 report.md"),
    run
      .request("ask_user", { question })
      .then((call) =>
        run
          .question(call, question, ["Markdown", "Plain text"])
          .then((reply) => run.finishTool(call, "ask_user", { question }, reply, false, 5, [])),
      ),
  ]);
  await run.text("All is decided.", { answer: true });
}

async function ask(run) {
  const args = { question: "Which format shall the report have?" };
  const call = await run.request("ask_user", args);
  const reply = await run.question(call, args.question, ["Markdown", "Plain text"]);
  run.finishTool(call, "ask_user", args, reply, false, 5, []);
  await run.text(`Good: the report will be ${reply}.`, { answer: true });
}

async function fail(run) {
  await run.tool("ls", { path: "/" }, "report.md", { ms: 60 });
  await run.text("I have begun to look", { answer: true });
  const message =
    "The model server at model.example did not answer within 60 s. Check that it runs, or choose another model.";
  run.finish("failed", { code: "model_timeout", message });
}

async function limit(run) {
  await run.tool("ls", { path: "/" }, "report.md", { ms: 60 });
  await run.text("This is as far as I came.", { answer: true });
  run.finish("limited", { code: "limit_reached", message: "The limit of 40 steps was reached." });
}

async function hostile(run) {
  await run.tool(
    "read_file",
    { path: "<img src=x onerror=window.hacked=1>" },
    "<script>window.hacked=1</script><b>bold</b>",
    { ms: 30 },
  );
  await run.text(
    '<img src=x onerror="window.hacked=1"> <script>window.hacked=1</script> [link](javascript:window.hacked=1) ![far](https://tracker.example/pixel.png)',
    { answer: true },
  );
}

async function plain(run, words) {
  await run.reason("A short question; a short answer will do.");
  await run.text(`You said: ${words}\n\nThis answer comes from the test server, word by word.`, {
    answer: true,
    ms: 30,
  });
  run.modelCalled();
}

async function count(run) {
  const words = Array.from({ length: 2000 }, (_, index) => `word${index + 1}`).join(" ");
  await run.text(words, { answer: true, ms: 8 });
}

/** A model server that is overloaded once, before it answers. */
async function overloaded(run) {
  run.push({ type: "model_requested", model: run.model, messages: 1 });
  run.push({ type: "notice", level: "warning", message: "The server is overloaded.", failed_try: true });
  run.push({
    type: "status",
    description: "Asking the model again in 2 s…",
    done: false,
    hidden: false,
    sentence: { code: "asking_again", params: { seconds: 2, attempt: 2, attempts: 3 } },
  });
  await run.pause(8000);
  run.push({ type: "status", description: "", done: true, hidden: true });
  await run.text("It answers now.", { answer: true });
  run.modelCalled();
}

/** A run without the tools of an MCP server, with a step if the message says so. */
async function unreachable(run, words) {
  run.push({
    type: "notice",
    level: "warning",
    message: "The MCP server “files” cannot be reached now, so this run goes on without its tools.",
    sentence: { code: "mcp_server_away", params: { name: "files" } },
  });
  if (words.includes("step")) await run.tool("ls", { path: "/" }, "report.md", { ms: 60 });
  await run.text("Answered without it.", { answer: true });
  run.modelCalled();
}

/** A log of 20,000 events at once. */
async function flood(run) {
  const item = run.name("t");
  run.push({ type: "text_started", item });
  const words = Array.from({ length: 19_995 }, (_, index) => `drop${index + 1} `);
  for (const delta of words) run.push({ type: "text_delta", item, delta });
  run.push({ type: "text_finished", item, text: words.join(""), answer: true });
  run.modelCalled();
}

/** Texts by name, for “recite NAME”. */
export const texts = new Map();

async function recite(run, words) {
  const text = texts.get(words.split("recite ")[1].trim()) ?? "";
  const item = run.name("t");
  run.push({ type: "text_started", item });
  for (let at = 0; at < text.length; at += 300) {
    run.push({ type: "text_delta", item, delta: text.slice(at, at + 300) });
    if (at % 3000 === 0) await run.pause(1);
  }
  run.push({ type: "text_finished", item, text, answer: true });
  run.modelCalled();
}

const scripts = {
  recite,
  overloaded,
  unreachable,
  ticket,
  several,
  tour,
  compact,
  flood,
  ask,
  fail,
  limit,
  hostile,
  count,
};

/** Plays the script named in the message; stopping keeps what was written. */
export async function play(run, words) {
  const name = Object.keys(scripts).find((key) => words.toLowerCase().includes(key));
  try {
    await (name ? scripts[name](run, words) : plain(run, words));
    if (run.state !== "finished") run.finish("completed");
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    run.finish("cancelled");
  }
}
