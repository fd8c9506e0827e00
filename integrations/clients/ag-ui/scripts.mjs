/** What the scripted model says in the tests of AG-UI's clients. */
import { calls, pause, reasoning, text, turn } from "../../../web/e2e/programs.mjs";

const write = ["write_file", { path: "/notes/a~b.md", content: "Hello." }];
const plan = ["write_todos", { todos: [{ content: "Write", status: "completed" }] }];
const helper = (description) => ["task", { description, subagent_type: "general" }];

export const CASES = [
  { contains: "Say hello", turns: [turn(reasoning("A greeting.", 40), text("Hello **there**, ёж 🦔.", 20))] },
  {
    contains: "Use tools",
    turns: [
      turn(text("I look."), calls(plan, write)),
      turn(calls(["read_file", { path: "/nowhere.md" }], ["ls", { path: "/" }])),
      turn(text("Done.")),
    ],
  },
  { contains: "Paint it", turns: [turn(text("I paint."), calls(["paint", { colour: "red" }])), turn(text("It is red."))] },
  {
    contains: "Ask me",
    turns: [turn(calls(["ask_user", { question: "Which?", options: ["a", "b"] }], ["ls", {}])), turn(text("Thank you."))],
  },
  { contains: "help one", turns: [turn(text("One is done.", 50))] },
  { contains: "help two", turns: [turn(calls(["ask_user", { question: "Really?" }])), turn(text("Two is done."))] },
  { contains: "help three", turns: [turn(calls(["ls", {}])), turn(text("Three is done."))] },
  { contains: "Delegate alone", turns: [turn(calls(helper("help one"), helper("help three"))), turn(text("All done."))] },
  { contains: "Delegate and ask", turns: [turn(calls(helper("help one"), helper("help two"))), turn(text("All done."))] },
  { contains: "Break down", turns: [{ steps: [text("Half a sent"), pause(200), { type: "cut" }] }] },
  { contains: "Go slowly", turns: [turn(text("word ".repeat(20), 50), pause(60_000), text("late"))] },
  { contains: "What is in the picture", turns: [turn(text("A dot."))] },
];

/** A picture of one dot. */
export const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A tool of the page. */
export const PAINT = {
  name: "paint",
  description: "Paints the canvas.",
  parameters: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
};
