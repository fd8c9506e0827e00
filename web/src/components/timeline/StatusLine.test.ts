/** What the status line says: the server's status, a retry with a countdown, and nothing while the model reasons. */
import { render, screen } from "@testing-library/svelte";
import { expect, test, vi } from "vitest";
import type { EventBody } from "../../api/events.ts";
import { RunView } from "../../state/run.svelte.ts";
import { createTimeline, reduce } from "../../state/timeline.ts";
import StatusLine from "./StatusLine.svelte";

type Steps = "listed" | "bare" | "hidden";

function show(steps: Steps, ...bodies: EventBody[]) {
  const view = new RunView("run_1");
  const timeline = createTimeline(view.nodes);
  const all: EventBody[] = [{ type: "run_started", model: "m" }, ...bodies];
  all.forEach((body, at) => reduce(timeline, { run: "run_1", seq: at + 1, at: 100_000, body }));
  vi.spyOn(view, "now").mockReturnValue(101_200);
  render(StatusLine, { props: { view, steps } });
}

const status = (code: string, params = {}): EventBody => ({
  ...{ type: "status", description: "In English…", done: false, hidden: false },
  sentence: { code, params },
});
const reasoning: EventBody = { type: "reasoning_started", item: "r1" };

test("a status of the server is shown as it is", () => {
  show("listed", status("running_tools", { count: 2 }));
  screen.getByText("In English…");
});

test("a retry counts down, and says which attempt it is", () => {
  const failed: EventBody = { type: "notice", level: "warning", message: "Busy.", failed_try: true };
  show("listed", failed, failed, status("asking_again", { seconds: 4, attempt: 3, attempts: 4 }));
  screen.getByText("Retrying in 3 s (attempt 3 of 4)…");
  expect(screen.queryByText("Busy.")).toBeNull();
});

test("a retry whose time has come waits no more", () => {
  show("bare", status("asking_again", { seconds: 1, attempt: 2, attempts: 3 }));
  screen.getByText("Retrying (attempt 2 of 3)…");
});

test.each([
  ["listed", false],
  ["bare", false],
  ["hidden", true],
] as const)("while the model reasons and steps are %s, the line says so: %s", (steps, says) => {
  show(steps, status("thinking"), reasoning);
  expect(screen.queryByText("In English…") !== null).toBe(says);
  expect(document.querySelectorAll(".spinner").length).toBe(says ? 1 : 0);
});
