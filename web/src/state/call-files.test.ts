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

const started = (call: string, name: string, given: unknown): EventBody[] => [
  { type: "tool_requested", call, name },
  { type: "tool_started", call, name, arguments: given, repeatable: false },
];
const change = (path: string): EventBody => ({ ...changed(1), path }) as EventBody;

/** Where each change is shown, after these events: in calls, and in rows of their own. */
function shown(...bodies: EventBody[]) {
  const timeline = createTimeline();
  const all: EventBody[] = [{ type: "run_started", model: "m" }, ...bodies];
  all.forEach((body, at) => reduce(timeline, { run: "run_1", seq: at + 1, at: 1000 + at, body }));
  const nodes = [...timeline.nodes.values()];
  return {
    calls: nodes.flatMap((node) =>
      node.kind === "tool" ? node.changes.map(({ path }) => `${node.call} ${path}`) : [],
    ),
    rows: nodes.flatMap((node) => (node.kind === "file" ? [node.path] : [])),
  };
}

test("a change is shown in the row of the call that names the file, also with parallel calls", () => {
  const edits = [
    ...started("c1", "edit_file", { path: "a.md" }),
    ...started("c2", "write_file", { path: "/b.md" }),
    ...started("c3", "read_file", { path: "/c.md" }),
    ...started("c4", "shell", { command: "touch /files/d.md" }),
  ];
  expect(shown(...edits, change("/b.md"), change("/a.md"), change("/c.md"), change("/d.md"))).toEqual({
    calls: ["c1 /a.md", "c2 /b.md", "c4 /c.md", "c4 /d.md"],
    rows: [],
  });
});

test("a change that no call can be found for has a row of its own", () => {
  const programs = [...started("c1", "shell", { command: "a" }), ...started("c2", "python", { code: "b" })];
  expect(shown(...programs, change("/a.md"))).toEqual({ calls: [], rows: ["/a.md"] });
  expect(shown(change("/b.md"))).toEqual({ calls: [], rows: ["/b.md"] });
});
