/** Runs of the real program, followed by their native events; whoever watches may answer what is asked. */
import { setTimeout as sleep } from "node:timers/promises";

/** Says something in a new chat; returns the run's id. */
export async function say(glasshouse, content) {
  const chat = await (await glasshouse.post("/api/v1/chats", {})).json();
  const begun = await (await glasshouse.post(`/api/v1/chats/${chat.id}/messages`, { content, model: "scripted" })).json();
  return begun.run;
}

/** Reads a run's log to its end, or until `watch` says stop; returns the bodies of all events. */
export async function follow(glasshouse, run, watch = () => {}) {
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${glasshouse.key}` };
  const answer = await fetch(`${glasshouse.url}/runs/${run}/events`, { headers, signal: leaving.signal });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  const bodies = [];
  let buffer = "";
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").find((line) => line.startsWith("data: "));
      if (!data) continue;
      const { body } = JSON.parse(data.slice(6));
      bodies.push(body);
      if ((await watch(body)) === "stop") {
        leaving.abort();
        return bodies;
      }
    }
  }
  return bodies;
}

/** Says something and follows the run; questions are answered by `answers`, each by the words it contains: with a text, or
 * with `{values}` or `{decline}`. */
export async function play(glasshouse, content, answers = {}) {
  const run = await say(glasshouse, content);
  return follow(glasshouse, run, answering(glasshouse, run, answers));
}

/** Allows what asks for consent and answers questions; a question without an answer is an error. */
export function answering(glasshouse, run, answers = {}) {
  return async (body) => {
    if (body.type === "approval_asked") {
      await glasshouse.post(`/runs/${run}/approvals/${body.approval}`, { decision: "allow" });
    }
    if (body.type === "question_asked") {
      const words = Object.keys(answers).find((words) => body.text.includes(words));
      if (words === undefined) throw new Error(`nobody expected the question: ${body.text}`);
      const said = answers[words];
      const answer = typeof said === "string" ? { answer: said } : said;
      await glasshouse.post(`/runs/${run}/questions/${body.question}`, answer);
    }
  };
}

/** Those events of a log. */
export const of = (bodies, type) => bodies.filter((body) => body.type === type);

/** What tools gave, in the order they ended. */
export const results = (bodies) => of(bodies, "tool_finished").map((body) => body.result);

/** Waits until the server of this name is in this state; returns what the administrator sees of it. */
export async function untilState(glasshouse, name, state) {
  let last;
  for (let tries = 0; tries < 300; tries++) {
    last = (await glasshouse.get("/api/v1/mcp-servers")).servers.find((server) => server.name === name);
    if (last.state === state) return last;
    await sleep(100);
  }
  throw new Error(`${name} is not ${state}: ${JSON.stringify(last)}`);
}
