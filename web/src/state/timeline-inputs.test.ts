/** Messages to a running run in the timeline. */
import { expect, it } from "vitest";
import type { RunEvent } from "../api/events.ts";
import { createTimeline, nodeOf, reduce, runOf } from "./timeline.ts";

const by = { id: "user_1", name: "Ada", is_owner: true };

function timelineOf(...bodies: RunEvent["body"][]) {
  const timeline = createTimeline();
  for (const [index, body] of bodies.entries())
    reduce(timeline, { run: "run_1", seq: index + 1, at: index, body });
  return timeline;
}

const received = (input_id: string, content: string): RunEvent["body"] => ({
  type: "input_received",
  input_id,
  mode: "steer",
  by,
  content,
});

it("a message is unread until an agent has read it, and then part of the conversation", () => {
  const timeline = timelineOf(received("i1", "Shorter."), received("i2", "Never mind."), {
    type: "input_removed",
    input_id: "i2",
  });
  expect(runOf(timeline).unread.map(({ content }) => content)).toEqual(["Shorter."]);
  reduce(timeline, { run: "run_1", seq: 4, at: 9, body: { type: "input_applied", input_id: "i1", step: 2 } });
  const { unread, answers, children } = runOf(timeline);
  expect(unread).toEqual([]);
  expect(answers).toEqual(["input i1"]);
  expect(children).toEqual(["input i1"]);
  expect(nodeOf(timeline.nodes, "input i1", "input")).toMatchObject({ text: "Shorter.", at: 9 });
});

it("what a sub-agent has read is not part of the answer", () => {
  const timeline = timelineOf(received("i1", "Shorter."));
  const agent = ["a1"];
  reduce(timeline, {
    run: "run_1",
    seq: 2,
    at: 2,
    agent,
    body: { type: "agent_started", name: "One", call: "c1", task: "t" },
  });
  reduce(timeline, {
    run: "run_1",
    seq: 3,
    at: 3,
    agent,
    body: { type: "input_applied", input_id: "i1", step: 1 },
  });
  expect(runOf(timeline).answers).toEqual([]);
  expect(nodeOf(timeline.nodes, "agent a1", "agent")?.children).toEqual(["input i1"]);
});

it("a fork does not take over the messages of the other run", () => {
  const timeline = timelineOf(received("i1", "Shorter."), { type: "run_forked", from: "run_0", after: 1 });
  expect(runOf(timeline).unread).toEqual([]);
});
