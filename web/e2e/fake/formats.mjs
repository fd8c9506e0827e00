/** The fake server's formats for `?format=`: enough of some protocols to display them, and a broken one. */

const frame = ({ event, id, data }) =>
  `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`;

function native(search) {
  const preview = Number(search.get("preview") ?? Infinity);
  return (event) => {
    const { body } = event;
    const isCut = body.type === "tool_finished" && body.result.length > preview;
    const cut = { ...event, preview: true, body: { ...body, result: body.result?.slice(0, preview) } };
    return [frame({ id: event.seq, data: JSON.stringify(isCut ? cut : event) })];
  };
}

/** The main agent's text deltas as its answer. */
function answer(event) {
  if (event.agent || event.body.type !== "text_delta") return undefined;
  return event.body.delta;
}

function openai() {
  const chunk = (delta, finish_reason = null) =>
    JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
  return (event) => {
    const id = event.seq;
    if (event.body.type === "run_started")
      return [frame({ id, data: chunk({ role: "assistant", content: "" }) })];
    if (event.body.type === "run_finished") {
      return [frame({ id: id - 1, data: chunk({}, "stop") }), frame({ id, data: "[DONE]" })];
    }
    const content = answer(event);
    return content === undefined ? [] : [frame({ id, data: chunk({ content }) })];
  };
}

/** Like AG-UI, it has no sequence numbers for resuming. */
function agUi() {
  const told = (event) => {
    if (event.body.type === "run_started") return { type: "RUN_STARTED", runId: event.run };
    if (event.body.type === "run_finished") return { type: "RUN_FINISHED", runId: event.run };
    const delta = answer(event);
    return delta === undefined
      ? undefined
      : { type: "TEXT_MESSAGE_CONTENT", messageId: event.body.item, delta };
  };
  return (event) => {
    const it = told(event);
    return it ? [frame({ data: JSON.stringify({ ...it, timestamp: event.at }) })] : [];
  };
}

/** What a faulty server or a hostile proxy could send. */
function broken() {
  return (event) => {
    const { seq: id, body } = event;
    if (body.type === "run_started")
      return [frame({ event: "message", id, data: '{"type": "status", "cut' })];
    if (body.type !== "run_finished") return [];
    return [frame({ event: "message", id, data: "<img src=x onerror=window.hacked=1><b>not JSON</b>" })];
  };
}

const formats = { native, openai, ag_ui: agUi, tool_calls: broken };

/** Returns a function that encodes each event as frames of the requested format. */
export function encoderOf(search) {
  return (formats[search.get("format") ?? "native"] ?? native)(search);
}
