/** Responses of the scripted model in the Open WebUI tests. The first case that matches the message is played. */
import { calls, pause, reasoning, text, turn } from "../programs.mjs";
import { PATH } from "./camera.mjs";

const NORTH = "Tonnes handled by month\nJanuary 410\nFebruary 395\nMarch 472\n".repeat(30);

/** Longer than the read timeout of most clients. */
export const SILENCE_MS = 125_000;

export const CASES = [
  // Requests for titles, tags and follow-ups contain this text; one answer includes what each of them parses.
  {
    contains: "### Task:",
    turns: [
      turn(
        text(
          JSON.stringify({
            title: "Two harbours compared",
            tags: ["harbours", "trade"],
            follow_ups: ["Which months were the busiest?", "Draw a chart of both harbours."],
          }),
        ),
      ),
    ],
  },
  // The model receives the image as a user message.
  { contains: "returned beside text", turns: [turn(text(`The light is on: ![the light](${PATH})`, 60))] },
  { contains: "Look at the light", turns: [turn(calls(["camera__shoot", {}]))] },
  {
    contains: "Read the north report",
    turns: [
      turn(calls(["read_file", { path: "/north.txt" }])),
      turn(pause(1500), text("North handled 1,277 tonnes in the quarter, most of it in March.", 60)),
    ],
  },
  {
    contains: "Read the south report",
    turns: [
      turn(calls(["read_file", { path: "/south.txt" }])),
      turn(pause(2500), text("There is no report of the south harbour.", 60)),
    ],
  },
  {
    contains: "Which harbour is busier",
    turns: [
      turn(
        reasoning("Two reports have to be read, so I put them where two agents can read them. ", 12),
        text("I will put the reports in place and have both read at the same time.", 40),
        calls(["write_file", { path: "/north.txt", content: NORTH }]),
      ),
      turn(
        reasoning("Now one agent for each harbour. ", 6),
        calls(
          ["task", { description: "Read the north report", subagent_type: "explore" }],
          ["task", { description: "Read the south report", subagent_type: "explore" }],
        ),
      ),
      turn(calls(["read_file", { path: "/nowhere.txt" }])),
      turn(
        pause(600),
        text(
          "**North is busier**, as far as the reports say.\n\n| Harbour | Tonnes in the quarter |\n| --- | --- |\n" +
            "| North | 1,277 |\n| South | no report |\n\nAsk the south harbour for its report before you rely on this.",
          40,
        ),
      ),
    ],
  },
  { contains: "And the year before", turns: [turn(text("I have no figures of the year before.", 40))] },
  {
    contains: "Say it plainly",
    turns: [turn(reasoning("Plainly then. "), text("Plain words of a plain model."))],
  },
  { contains: "Keep still", turns: [turn(pause(SILENCE_MS), text("That took a while."))] },
  {
    contains: "Take your time",
    turns: [
      turn(calls(["task", { description: "Keep still", subagent_type: "explore" }])),
      turn(text("After a long silence, the answer.")),
    ],
  },
  {
    contains: "Count",
    turns: [turn(text(Array.from({ length: 3000 }, (_, n) => `w${n + 1} `).join(""), 30))],
  },
  {
    contains: "Break off",
    turns: [
      turn(calls(["write_file", { path: "/a.txt", content: "a" }])),
      { steps: [text("Half a sentence is what"), pause(600), { type: "cut" }] },
    ],
  },
  {
    contains: "What time is it",
    turns: [
      turn(calls(["write_file", { path: "/clock.txt", content: "tick" }])),
      turn(calls(["get_current_timestamp", {}])),
      turn(calls(["read_file", { path: "/clock.txt" }])),
      turn(text("It is time to go home.")),
    ],
  },
  { turns: [turn(text("Hello from the scripted model."))] },
];
