/** Writing to a run while it goes: what is read when, what survives, and two people in one chat. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { addPerson, bob as theGuest, connectModel, logIn, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const ask = calls(["ask_user", { question: "Which one?", options: ["This one"] }]);
const over = turn(text("I have read it all."));
const CASES = [
  {
    contains: "Count slowly",
    // Much longer than it takes to interrupt it, also on a busy machine.
    turns: [turn(text(`One two ${"and so on ".repeat(100)} to the end`, 4))],
  },
  {
    contains: "Delegate",
    turns: [
      turn(calls(["task", { description: "Help me here", subagent_type: "general" }])),
      turn(text("Delegated and done.")),
    ],
  },
  {
    contains: "Help me here",
    turns: [
      turn(text("I am waiting in the helper for a while before I look", 2), calls(["ls", {}])),
      turn(text("Helped.")),
    ],
  },
  { contains: "For the helper", turns: [turn(text("Helped as told."))] },
  { contains: "In French!", turns: [turn(text("In French then."))] },
  { contains: "Decide", turns: [turn(ask), over] },
  { contains: "shorter", turns: [over] },
  { contains: "From the guest.", turns: [over] },
  { contains: "Then a summary", turns: [turn(text("This is the summary."))] },
  { contains: "Thanks", turns: [turn(text("You are both welcome."))] },
];

let browser, glasshouse, model, page, guest;

const picture = async (name, of = page) => {
  if (process.env.E2E_PICTURES) {
    await of.screenshot({ path: join(process.env.E2E_PICTURES, `steering-${name}.png`) });
  }
};

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  const { url } = glasshouse;
  page = await openPage(browser, { url });
  guest = await openPage(browser, { url, preferences: { theme: "dark" } });
  await setUp(page);
  await connectModel(page, model);
  await addPerson(page);
  await logIn(guest, theGuest);
  await guest.locator("#composer").waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const field = (of = page) => of.locator("#composer");
const unread = (of = page) => of.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
const said = (words, of = page) => of.locator(".said").filter({ hasText: words });

async function say(words, keys = "Enter", of = page) {
  await field(of).fill(words);
  await field(of).press(keys);
  await hasValue(field(of), "");
}

async function begin(words, answer) {
  await page.goto("/");
  await say(words);
  await page.getByText(answer).first().waitFor();
}

const answerQuestion = () => page.getByRole("button", { name: "This one" }).click();

test("Enter sends at the next step; a message can be edited and removed until then", async () => {
  await begin("Decide", "Which one?");
  await say("Shorter, please.");
  await unread().filter({ hasText: "Sends at the next step" }).waitFor();
  await say("Never mind this.");
  await unread().nth(1).waitFor();
  await check(page, "messages not read yet");
  await picture("unread");
  await unread().filter({ hasText: "Never mind" }).getByRole("button", { name: "Remove" }).click();
  await unread().filter({ hasText: "Never mind" }).waitFor({ state: "detached" });
  await unread().filter({ hasText: "Shorter" }).getByRole("button", { name: "Edit" }).click();
  await unread().waitFor({ state: "detached" });
  await until("the words are back", async () => (await field().inputValue()).includes("Shorter, please."));
  await say("Much shorter, please.");
  await unread().waitFor();
});

test("it survives a reload and a crash of the server, and is shown in another window", async () => {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await unread(other).filter({ hasText: "Much shorter" }).waitFor();
  await glasshouse.killAndStart();
  await page.reload();
  await unread().filter({ hasText: "Much shorter" }).waitFor();
  await answerQuestion();
  await said("Much shorter, please.").first().waitFor();
  await page.getByText("I have read it all.").waitFor();
  await unread().waitFor({ state: "detached" });
  await said("Much shorter, please.", other).first().waitFor();
  await other.close();
  await picture("read");
  // Also later, when only the chat is loaded.
  await page.reload();
  await said("Much shorter, please.").first().waitFor();
});

test("Ctrl+Enter sends after the answer", async () => {
  await begin("Decide", "Which one?");
  await say("Then a summary", "Control+Enter");
  await unread().filter({ hasText: "Sends after this answer" }).waitFor();
  await answerQuestion();
  await page.getByText("This is the summary.").waitFor();
  await unread().waitFor({ state: "detached" });
  assert.equal(await page.locator("article[data-turn]").count(), 4);
});

test("the menu interrupts, and keeps what is written", async () => {
  await begin("Count slowly", "One two");
  await field().fill("In French!");
  await page.getByRole("button", { name: "How to send" }).click();
  await check(page, "the ways to send");
  await picture("ways");
  await page.getByRole("menuitem", { name: "Interrupt and send now" }).click();
  await page.getByText("In French then.").waitFor();
  await page.getByText("One two").first().waitFor();
  await said("In French!").first().waitFor();
  assert.equal(await page.getByText("to the end").count(), 0);
});

test("a sub-agent is addressed from its row", async () => {
  await begin("Delegate", "I am waiting in the helper");
  await page.getByRole("button", { name: "Message this sub-agent" }).click();
  const message = page.getByRole("textbox", { name: /^Message to/ });
  await message.fill("Half-written");
  await page.keyboard.press("Escape");
  await message.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Message this sub-agent" }).click();
  await hasValue(message, "Half-written");
  await message.fill("For the helper");
  await page.keyboard.press("Enter");
  await unread().filter({ hasText: "Sends to sub-agent" }).waitFor();
  await page.getByText("Delegated and done.").waitFor();
  await unread().waitFor({ state: "detached" });
});

test("somebody who can reply writes under their own name", async () => {
  await begin("Decide", "Which one?");
  const chat = new URL(page.url()).pathname;
  await page.getByRole("button", { name: "Share chat" }).click();
  const dialog = page.getByRole("dialog", { name: "Share chat" });
  await dialog.getByLabel("Email address").fill(theGuest.email);
  await dialog.getByLabel("Access").selectOption("Can reply");
  await dialog.getByRole("button", { name: "Share", exact: true }).click();
  await dialog.getByLabel(`Access for ${theGuest.name}`).waitFor();
  await check(page, "sharing");
  await picture("sharing");
  await page.keyboard.press("Escape");
  await guest.goto(chat);
  await guest.getByText("you can reply").waitFor();
  await say("From the guest.", "Enter", guest);
  await unread(guest).filter({ hasText: "From the guest." }).waitFor();
  await unread().filter({ hasText: theGuest.name }).waitFor();
  await check(guest, "a chat in which one can reply");
  await picture("guest", guest);
  await answerQuestion();
  await page.getByText("I have read it all.").waitFor();
  await said(theGuest.name).first().waitFor();
  await say("Thanks", "Enter", guest);
  await guest.getByText("You are both welcome.").waitFor();
  await page.getByText("You are both welcome.").waitFor();
  await page.locator(".mine").filter({ hasText: theGuest.name }).first().waitFor();
  // The guest sees what the owner writes, too.
  await say("Thanks, Bob");
  await guest.locator(".mine").filter({ hasText: "Thanks, Bob" }).waitFor();
  assert.equal(await guest.getByRole("button", { name: "Stop" }).count(), 0);
});

test("what cannot be sent after the answer waits, and can be edited or removed", async () => {
  await begin("Decide", "Which one?");
  await say("Then this", "Control+Enter");
  await say("Then that", "Control+Enter");
  await unread().nth(1).waitFor();
  const headers = { origin: glasshouse.url };
  const connections = `${glasshouse.url}/api/v1/connections`;
  const [connection] = (await (await page.request.get(connections)).json()).connections;
  await page.request.delete(`${connections}/${connection.id}`, { headers });
  await answerQuestion();
  await unread().filter({ hasText: "Sends as soon as possible" }).nth(1).waitFor();
  await page.reload();
  await unread().nth(1).waitFor();
  await picture("waiting");
  await unread().filter({ hasText: "Then that" }).getByRole("button", { name: "Remove" }).click();
  await unread().filter({ hasText: "Then that" }).waitFor({ state: "detached" });
  await page.reload();
  await unread().filter({ hasText: "Then this" }).waitFor();
  assert.equal(await unread().count(), 1);
  await unread().filter({ hasText: "Then this" }).getByRole("button", { name: "Edit" }).click();
  await unread().waitFor({ state: "detached" });
  await hasValue(field(), "Then this");
});

test("nothing complained", () => {
  // While the server was down.
  const expected = /Failed to load resource|WebSocket|ERR_/;
  for (const each of [page, guest]) {
    assert.deepEqual(
      each.complaints.filter((complaint) => !expected.test(complaint)),
      [],
    );
  }
});
