/** Which files are shown in the row of a tool call, and which in a file row. */
import { expect, test } from "vitest";
import type { EventBody } from "../api/events.ts";
import { createTimeline, reduce } from "./timeline.ts";

const changed = (version: number): EventBody => ({
  type: "file_changed",
  path: "/plot.png",
  version,
  size_bytes: 9,
});

test("a picture that the row of a call shows is not shown again where its file changed", () => {
  const timeline = createTimeline();
  const bodies: EventBody[] = [
    { type: "run_started", model: "m" },
    changed(1),
    { type: "tool_requested", call: "c1", name: "python" },
    changed(2),
    {
      type: "tool_finished",
      call: "c1",
      name: "python",
      arguments: {},
      result: "ok",
      error: false,
      truncated: false,
      duration_ms: 7,
      files: [{ path: "/plot.png", version: 2, media_type: "image/png", size_bytes: 9 }],
    },
  ];
  bodies.forEach((body, at) => reduce(timeline, { run: "run_1", seq: at + 1, at: 1000 + at, body }));
  const rows = [...timeline.nodes.values()].filter((node) => node.kind === "file");
  expect(rows.map(({ version, inCall }) => [version, inCall ?? false])).toEqual([
    [1, false],
    [2, true],
  ]);
});
