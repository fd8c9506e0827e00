/** Glasshouse through the pipe, an Open WebUI function. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { UPPER, newChat, picture, stored } from "./chat.mjs";
import { WIDE } from "./camera.mjs";
import { setValves } from "./world.mjs";

const PIPE = "glasshouse.glasshouse";

export function pipeTests(world) {
  let chat;
  const open = async () => (chat = await newChat(world.chats, PIPE));

  test("pipe: the status line says what the agent and its sub-agents do", async () => {
    await open();
    const runs = world.glasshouse.runs.length;
    world.recorder.take();
    await chat.say("Which harbour is busier?");
    await chat.shows(/🤖 Sub-agent: Read the (north|south) report › /);
    await picture(chat.page, "pipe-live", UPPER);
    await chat.shows("North is busier");
    await chat.ends();
    await chat.shows("Complete");
    assert.equal(world.glasshouse.runs.length, runs + 1, "titles and the like start nothing");
    const { statusHistory, content, output } = await stored(world.openWebUi, chat);
    const lines = statusHistory.map((status) => status.description);
    for (const line of ["🔧 write_file...", "🔧 read_file...", "🤖 Sub-agent: Read the south report..."]) {
      assert.ok(lines.includes(line), `${line} in ${lines}`);
    }
    assert.deepEqual(statusHistory.at(-1), { description: "Complete", done: true, hidden: false });
    const answer = content || output.map((item) => item.content?.[0]?.text ?? "").join("");
    assert.match(answer, /^I will put the reports in place.*\n\n\*\*North is busier/, "two paragraphs");
    assert.ok(!answer.includes("1,277 tonnes in the quarter, most"), "no words of a sub-agent");
  });

  test("pipe: each result is a citation, its beginning and all of it", async () => {
    const { sources } = await stored(world.openWebUi, chat);
    const read = sources.find((source) => source.source.name === "🔧 read_file");
    const full = read.metadata[0].full_result;
    assert.ok(full.length > 1500);
    assert.equal(read.document[0], `${full.slice(0, 500)}...`);
    await chat.reload();
    await chat.page.getByRole("button", { name: "Toggle 6 sources" }).click();
    const citation = chat.page.getByRole("button", { name: "View source: 2 🔧 read_file" });
    await citation.waitFor();
    await picture(chat.page, "pipe-citations");
    await citation.click();
    await chat.page
      .getByRole("dialog")
      .getByText(/February 395/)
      .waitFor();
    await chat.close();
  });

  test("document_001: pipe: pictures and HTML of a tool show", async () => {
    await open();
    await chat.say("Look at the light");
    await chat.shows("The light is on:");
    await chat.ends();
    await chat.showsPictures(WIDE);
    assert.ok(!(await chat.text()).includes("Image unavailable"));
    const panel = chat.page.frameLocator("#messages-container iframe").getByText("Panel of the light");
    await panel.waitFor();
    await chat.reload();
    await chat.showsPictures(WIDE);
    await panel.waitFor();
    await chat.close();
  });

  test("pipe: Stop stops the run, and what was written stays", async () => {
    await open();
    await chat.say("Count");
    await chat.shows(/\bw20\b/);
    const run = world.glasshouse.runs.at(-1);
    await chat.stop();
    assert.equal(await world.glasshouse.ended(run, 5), "cancelled");
    await chat.reload();
    await chat.shows(/\bw20\b/);
    await chat.close();
  });

  test("pipe: an answer that breaks off is told, and what was written stays", async () => {
    await open();
    await chat.say("Break off");
    await chat.shows(/closed the connection in the middle of the answer/);
    await chat.reload();
    await chat.shows("Half a sentence is what");
    await chat.shows(/closed the connection in the middle of the answer/);
    assert.equal((await stored(world.openWebUi, chat)).statusHistory.at(-1).done, true);
    await chat.close();
  });

  test("pipe: the valves switch off what they say", async () => {
    await setValves(world, { SHOW_TOOL_CITATIONS: false, SHOW_SUBAGENT_STATUS: false });
    await open();
    await chat.say("Which harbour is busier?");
    await chat.shows("North is busier");
    await chat.ends();
    const { sources, statusHistory } = await stored(world.openWebUi, chat);
    assert.equal(sources, undefined);
    assert.ok(statusHistory.every((status) => !status.description.includes("🤖")));
    await chat.close();
    await setValves(world);
  });
}
