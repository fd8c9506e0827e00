/** Watches an agent at work through /chat/stream, with fetch alone: npm run stream -- "Which files are there?" [MODEL] */

/** The frames that this program shows; others are ignored, as new ones may come. */
type Frame =
  | { type: "token"; data: { content: string; agent_depth: number } }
  | { type: "tool_start"; data: { name: string; args?: unknown } }
  | { type: "tool_end"; data: { name: string; result: string; error: boolean } }
  | { type: "error"; data: { message: string } }
  | { type: "done"; data: { outcome: string; usage: { input_tokens: number; output_tokens: number } } };

const url = process.env.GLASSHOUSE_URL ?? "http://127.0.0.1:8000";
const authorization = `Bearer ${process.env.GLASSHOUSE_KEY}`;
const [message = "Which files are there?", model = "tour"] = process.argv.slice(2);

/** The events of a response, each with its id if it has one. */
async function* events(response: Response): AsyncGenerator<{ id?: string; frame: Frame }> {
  let buffer = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const data = field("data");
      if (data) yield { id: field("id"), frame: JSON.parse(data) as Frame };
    }
  }
}

/** The frames of a run to its end, over as many connections as that takes. */
async function* watch(content: string): AsyncGenerator<Frame> {
  let response = await fetch(`${url}/chat/stream`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content }], model }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const run = response.headers.get("x-run-id");
  let last = "0";
  for (;;) {
    try {
      for await (const { id, frame } of events(response)) {
        last = id ?? last;
        yield frame;
        if (frame.type === "done") return;
      }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      console.error("The connection was lost; resuming.");
    }
    response = await fetch(`${url}/runs/${run}/events?format=chat`, {
      headers: { authorization, "last-event-id": last },
    });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }
}

for await (const frame of watch(message)) {
  switch (frame.type) {
    case "token":
      if (frame.data.agent_depth === 0) process.stdout.write(frame.data.content);
      break;
    case "tool_start":
      console.log(`→ ${frame.data.name}(${JSON.stringify(frame.data.args ?? {})})`);
      break;
    case "tool_end":
      console.log(`${frame.data.error ? "✗" : "✓"} ${frame.data.name}: ${frame.data.result.slice(0, 100)}`);
      break;
    case "error":
      console.error(`failed: ${frame.data.message}`);
      break;
    case "done": {
      const { outcome, usage } = frame.data;
      console.log(`\n${outcome}, ${usage.input_tokens} + ${usage.output_tokens} tokens`);
    }
  }
}
