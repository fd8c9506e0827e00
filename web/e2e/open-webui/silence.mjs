/** A tool that is silent for two minutes, started first and checked last, so that other tests run meanwhile. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { setTimeout as wait } from "node:timers/promises";
import { newChat, stored } from "./chat.mjs";
import { SILENCE_MS } from "./scripts.mjs";

const WAYS = [
  ["the connection", "glasshouse/agent"],
  ["the pipe", "glasshouse.glasshouse"],
];
const begun = [];

export function silenceBegins(world) {
  for (const [way, model] of WAYS) {
    test(`a silent turn begins through ${way}`, async () => {
      const chat = await newChat(world.chats, model);
      await chat.say("Take your time");
      begun.push({ chat, since: Date.now() });
      await chat.shows("Keep still");
    });
  }
}

export function silenceTests(world) {
  WAYS.forEach(([way, model], at) => {
    test(`two silent minutes do not end a turn through ${way}`, async () => {
      const { chat, since } = begun[at];
      assert.equal(model, (await stored(world.openWebUi, chat)).model);
      await wait(Math.max(0, since + SILENCE_MS - Date.now()));
      await chat.shows("After a long silence, the answer.");
      await chat.ends();
      assert.ok(Date.now() - since >= SILENCE_MS);
      await chat.reload();
      await chat.shows("After a long silence, the answer.");
      assert.equal((await stored(world.openWebUi, chat)).error, undefined);
      await chat.close();
    });
  });
}
