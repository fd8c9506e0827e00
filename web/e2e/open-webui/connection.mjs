/** Glasshouse as an OpenAI connection of Open WebUI. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { UPPER, inOrder, newChat, picture, stored } from "./chat.mjs";
import { PICTURE, WIDE } from "./camera.mjs";
import { connect } from "./world.mjs";

const AGENT = "glasshouse/agent";
const isTask = (body) => body.messages[0].content.startsWith?.("### Task:");

export function connectionTests(world) {
  let chat;
  const open = async (model) => (chat = await newChat(world.chats, model));

  test("connection: an agent's work shows while it happens", async () => {
    await open(AGENT);
    const runs = world.glasshouse.runs.length;
    world.recorder.take();
    await chat.say("Which harbour is busier?");
    await chat.shows(/^(Thinking|write_file)…$/);
    await chat.shows(/Exploring .*write_file.*Sub-agent: "Read the north report"/);
    await chat.shows(/🤖 Read the (north|south) report: /);
    inOrder(await chat.text(), ["I will put the reports in place", "Exploring"]);
    await picture(chat.page, "connection-live", UPPER);
    await chat.shows("North is busier");
    await chat.ends();
    assert.equal(world.glasshouse.runs.length, runs + 1);
    assert.equal(await world.glasshouse.ended(world.glasshouse.runs.at(-1)), "completed");
  });

  test("connection: what the agent did stays, each thing in its place", async () => {
    const { output } = await stored(world.openWebUi, chat);
    const rows = output.map((item) => item.name ?? item.type);
    assert.deepEqual(rows, [
      "reasoning",
      "message",
      "write_file",
      "function_call_output",
      "reasoning",
      "delegate_task",
      "delegate_task",
      "function_call_output",
      "function_call_output",
      "read_file",
      "function_call_output",
      "message",
    ]);
    const thoughts = output.filter((item) => item.type === "reasoning").map((item) => item.content[0].text);
    assert.match(thoughts[0], /^Two reports have to be read/);
    assert.match(thoughts[1], /^Now one agent for each harbour/);
    const before = await chat.text();
    await chat.reload();
    await chat.shows("North is busier");
    assert.doesNotMatch(await chat.text(), /Thinking…/, "the status line is gone");
    const steps = chat.page.getByText(/^Explored/).first();
    await steps.click();
    inOrder(await chat.text(), [
      "View Result from write_file",
      "Thought",
      'Sub-agent: "Read the north report"',
    ]);
    await chat.page
      .getByText(/^Thought for/)
      .last()
      .click();
    await chat.shows("Now one agent for each harbour");
    await chat.page.getByText("View Result from read_file").click();
    await chat.shows(/There is no file .nowhere\.txt/);
    assert.ok(before.includes("Ask the south harbour"));
    await picture(chat.page, "connection-steps");
  });

  test("connection: titles, tags and follow-ups are asked of the model, never of an agent", async () => {
    await chat.shows("Draw a chart of both harbours.");
    assert.equal((await stored(world.openWebUi, chat)).title, "Two harbours compared");
    const tasks = world.recorder.take().filter(isTask);
    assert.equal(tasks.length, 3, "a title, tags and follow-ups");
    for (const body of tasks) assert.equal(body.tools, undefined);
  });

  test("connection: the next message brings the tool rows back, and the model gets them", async () => {
    await chat.say("And the year before?");
    await chat.shows("I have no figures of the year before.");
    await chat.ends();
    const { messages } = world.recorder.take().find((body) => !isTask(body));
    const called = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function.name);
    assert.deepEqual(called, ["write_file", "delegate_task", "delegate_task", "read_file"]);
    const results = messages.filter((message) => message.role === "tool").map((message) => message.content);
    assert.equal(results.length, 4);
    assert.match(results[3], /There is no file .nowhere\.txt/);
    await chat.close();
  });

  test("connection: a tool of Open WebUI's own runs there, between tools of the agent", async () => {
    await open(AGENT);
    world.recorder.take();
    await chat.say("What time is it?");
    await chat.shows("It is time to go home.");
    await chat.ends();
    const asked = world.recorder.take().filter((body) => !isTask(body));
    assert.ok(asked[0].tools.length > 30, "ours and some thirty of Open WebUI");
    const { output } = await stored(world.openWebUi, chat);
    const rows = output.filter((item) => item.type === "function_call").map((item) => item.name);
    assert.deepEqual(rows, ["write_file", "get_current_timestamp", "read_file"]);
    const last = asked.at(-1).messages.at(-1);
    assert.match(last.content, /tick/, "the files of the first run are there in the second");
    await chat.close();
  });

  test("document_001: connection: pictures and HTML of a tool show in its row, and the answer's picture too", async () => {
    await open(AGENT);
    world.recorder.take();
    await chat.say("Look at the light");
    await chat.shows("The light is on:");
    await chat.ends();
    assert.ok((await chat.showsPictures(WIDE)) >= 2, "in the row and in the answer");
    assert.ok(!(await chat.text()).includes("Image unavailable"));
    const panel = chat.page.frameLocator("#messages-container iframe").getByText("Panel of the light");
    await panel.waitFor();
    const asked = world.recorder.take().filter((body) => !isTask(body));
    const seen = asked.at(-1).messages.at(-1).content;
    assert.equal(seen[1].image_url.url, `data:image/png;base64,${PICTURE.toString("base64")}`);
    await picture(chat.page, "connection-pictures");
    await chat.reload();
    assert.ok((await chat.showsPictures(WIDE)) >= 2, "they stay with the chat");
    await chat.close();
  });

  test("connection: a plain model answers without an agent", async () => {
    const runs = world.glasshouse.runs.length;
    await open("scripted");
    await chat.say("Say it plainly");
    await chat.shows("Plain words of a plain model.");
    await chat.ends();
    await chat.reload();
    await chat.shows("Plain words of a plain model.");
    await chat.shows(/^Thought for/);
    assert.equal(world.glasshouse.runs.length, runs);
    await chat.close();
  });

  test("connection: Stop stops the run, and what was written stays", async () => {
    await open(AGENT);
    await chat.say("Count");
    await chat.shows(/\bw20\b/);
    const run = world.glasshouse.runs.at(-1);
    await chat.stop();
    assert.equal(await world.glasshouse.ended(run, 5), "cancelled");
    await chat.ends();
    await chat.reload();
    await chat.shows(/\bw20\b/);
    await chat.close();
  });

  test("connection: Stop reaches sub-agents too", async () => {
    await open(AGENT);
    await chat.say("Take your time");
    await chat.shows("Keep still");
    const run = world.glasshouse.runs.at(-1);
    await chat.stop();
    assert.equal(await world.glasshouse.ended(run, 5), "cancelled");
    await chat.close();
  });

  test("connection: an answer that breaks off is told, and what was written stays", async () => {
    await open(AGENT);
    await chat.say("Break off");
    await chat.shows(/closed the connection in the middle of the answer/);
    assert.equal(await world.glasshouse.ended(world.glasshouse.runs.at(-1)), "failed");
    await chat.reload();
    await chat.shows("Half a sentence is what");
    await chat.shows(/closed the connection in the middle of the answer/);
    await chat.close();
  });

  test("connection: set up with address and key only, it answers and starts no needless agent", async () => {
    await connect(world, {});
    await open(AGENT);
    const runs = world.glasshouse.runs.length;
    await chat.say("Which harbour is busier?");
    await chat.shows("North is busier");
    await chat.shows("Draw a chart of both harbours.");
    assert.equal(world.glasshouse.runs.length, runs + 1);
    await chat.close();
    await connect(world);
  });
}
