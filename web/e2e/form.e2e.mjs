/** Forms of agents with the real program: filled in next to the steps and in the inbox, kept, corrected, declined. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { hasValue, launch, openPage, unfold } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const FIELDS = [
  { name: "city", label: "City", type: "text", required: true, help: "Where the journey goes.", min: 2 },
  { name: "wishes", label: "Wishes", type: "long_text", help: "Anything else we should know." },
  { name: "email", label: "Email", type: "email", required: true },
  { name: "page", label: "Web page", type: "url" },
  { name: "day", label: "Day", type: "date", required: true },
  { name: "call", label: "Call me at", type: "date_time" },
  { name: "budget", label: "Budget", type: "number", min: 0.5, required: true },
  { name: "seats", label: "Seats", type: "integer", min: 1, max: 9, default: 2, required: true },
  { name: "window", label: "By the window", type: "boolean", default: false },
  {
    name: "meal",
    label: "Meal",
    type: "choice",
    options: ["Fish", "Meat", "Vegetables", "Soup", "Bread", "None"],
  },
  { name: "bags", label: "Bags", type: "choices", options: ["Rucksack", "Suitcase", "Skis"], max: 2 },
];
const LETTER = { name: "letter", label: "Letter", type: "choice", options: ["A", "B"], required: true };

const CASES = [
  {
    contains: "Think aloud",
    turns: [turn(...Array.from({ length: 40 }, (_, n) => [text(`w${n} `), pause(100)]).flat())],
  },
  {
    contains: "Plan a trip",
    turns: [
      turn(calls(["ask_user", { question: "A few things about your trip", fields: FIELDS }])),
      turn(text("Have a good journey.")),
    ],
  },
  {
    contains: "While others work",
    turns: [
      turn(
        calls(
          ["ask_user", { question: "Which letter?", fields: [{ ...LETTER, type: "text", options: [] }] }],
          ["task", { description: "Think aloud", subagent_type: "explore" }],
        ),
      ),
      turn(text("Both are done.")),
    ],
  },
  {
    contains: "Ask in the inbox",
    turns: [
      turn(calls(["ask_user", { question: "Which letter?", fields: [LETTER] }])),
      turn(text("Then A.")),
    ],
  },
  {
    contains: "Ask for nothing",
    turns: [
      turn(calls(["ask_user", { question: "Which letter?", fields: [LETTER] }])),
      turn(text("Then none.")),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url, timezoneId: "Europe/Berlin" });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const say = async (words) => {
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
};
const newChat = () => page.getByRole("button", { name: /New chat/ }).click();
const card = () => page.getByRole("region", { name: /asks$/ });
const send = () => card().getByRole("button", { name: "Answer", exact: true });
const finished = () => page.getByRole("button", { name: "Regenerate" }).last().waitFor();
const steps = () => page.locator("[data-steps-toggle]").last();
const field = (name) => card().getByLabel(new RegExp(`^${name}`));
const picture = async (name) => {
  if (process.env.E2E_PICTURES) await page.screenshot({ path: `${process.env.E2E_PICTURES}/${name}.png` });
};
/** What the model received, read from the run's log. */
const answered = async () => {
  const chat = new URL(page.url()).pathname.split("/").pop();
  const log = await page.evaluate(async (chat) => {
    const { messages } = await (await fetch(`/api/v1/chats/${chat}`)).json();
    return (await fetch(`/runs/${messages.at(-1).run}/events`)).text();
  }, chat);
  const bodies = log
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)).body);
  return bodies.find((body) => body.type === "question_answered");
};

test("a form says what is wrong beside its fields and takes the person there", async () => {
  await say("Plan a trip.");
  await field("City").waitFor();
  await picture("form-empty");
  await hasValue(field("Seats"), "2");
  assert.equal(await card().getByRole("radio", { name: "No", exact: true }).isChecked(), true);
  await field("City").fill("R");
  await field("Seats").fill("ten");
  await send().click();
  await card().getByText("2 to 500 characters.").waitFor();
  await card().getByText("Enter a whole number.").waitFor();
  assert.equal(await card().getByText("Fill in this field.").count(), 3, "email, day and budget");
  assert.equal(await field("City").evaluate((input) => input === document.activeElement), true);
  const described = await field("City").getAttribute("aria-describedby");
  const notes = await Promise.all(
    described.split(" ").map((id) => page.locator(`[id="${id}"]`).textContent()),
  );
  assert.deepEqual(notes, ["Where the journey goes.", "2 to 500 characters."]);
  await picture("form-faults");
});

test("what is typed is still there after a reload, and every type of field is sent as its value", async () => {
  await field("City").fill("Rome");
  await page.reload();
  await field("City").waitFor();
  await hasValue(field("City"), "Rome");
  await hasValue(field("Seats"), "ten");
  // By keyboard only: Tab moves between fields, and Enter in one submits.
  await field("City").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.type("A quiet room,\nplease.");
  await page.keyboard.press("Tab");
  await page.keyboard.type("ada@example.org");
  await field("Web page").fill("https://example.org/ada");
  await field("Day").fill("2026-02-28");
  await field("Call me at").fill("2026-02-27T18:30");
  await field("Budget").fill("1234,5");
  await field("Seats").fill("3");
  await card().getByRole("radio", { name: "Yes" }).check();
  await field("Meal").selectOption("Vegetables");
  await card().getByRole("checkbox", { name: "Skis" }).check();
  await card().getByRole("checkbox", { name: "Rucksack" }).check();
  await picture("form-filled");
  await field("City").press("Enter");
  await page.getByText("Have a good journey.").waitFor();
  assert.deepEqual((await answered()).values, {
    city: "Rome",
    wishes: "A quiet room,\nplease.",
    email: "ada@example.org",
    page: "https://example.org/ada",
    day: "2026-02-28",
    call: "2026-02-27T17:30:00.000Z",
    budget: 1234.5,
    seats: 3,
    window: true,
    meal: "Vegetables",
    bags: ["Rucksack", "Skis"],
  });
});

test("the steps show what was answered", async () => {
  await finished();
  await unfold(steps());
  const said = page.getByRole("listitem").filter({ has: page.getByRole("term").filter({ hasText: "City" }) });
  await said.getByText("Rome", { exact: true }).waitFor();
  await said.getByText("Rucksack, Skis").waitFor();
  await said.getByText("Yes", { exact: true }).waitFor();
  await picture("form-answered");
});

test("what is typed stays while other agents' work comes in", async () => {
  await newChat();
  await say("While others work.");
  await field("Letter").pressSequentially("a letter", { delay: 60 });
  await page.getByText("w9", { exact: false }).first().waitFor();
  await hasValue(field("Letter"), "a letter");
  assert.equal(await field("Letter").evaluate((input) => input === document.activeElement), true);
  await page.keyboard.press("Enter");
  await page.getByText("Both are done.").waitFor();
});

test("the inbox has the form, and what the server refuses stands at its field", async () => {
  await newChat();
  await say("Ask in the inbox.");
  await card().getByRole("radio", { name: "B" }).check();
  await page.goto("/inbox");
  await card().getByRole("radio", { name: "B" }).waitFor();
  assert.equal(
    await card().getByRole("radio", { name: "B" }).isChecked(),
    true,
    "it is kept from page to page",
  );
  await picture("form-inbox");
  // As sent by a page that is older than the form.
  await page.route("**/questions/*", (route) =>
    route.continue({ postData: JSON.stringify({ values: { letter: "C" } }) }),
  );
  await send().click();
  await card().getByText("“Letter” must be one of: A, B.").waitFor();
  await page.unroute("**/questions/*");
  await card().getByRole("radio", { name: "A" }).check();
  await send().click();
  await page.getByText("You’re all caught up").or(page.locator("p.quiet")).waitFor();
});

test("nobody has to answer", async () => {
  await newChat();
  await say("Ask for nothing.");
  await card().getByRole("button", { name: "Skip" }).click();
  await page.getByText("Then none.").waitFor();
  assert.equal((await answered()).declined, true);
  await finished();
  await unfold(steps());
  await page.getByText("Skipped.").waitFor();
  assert.deepEqual(
    page.complaints.filter((words) => !words.includes("422")),
    [],
  );
});
