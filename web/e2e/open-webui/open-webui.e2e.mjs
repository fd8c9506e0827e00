/** Open WebUI as it is published, with Glasshouse behind it in both ways that our guide describes. */
import { test } from "@playwright/test";
import { openChats } from "./chat.mjs";
import { connectionTests } from "./connection.mjs";
import { pipeTests } from "./pipe.mjs";
import { setupTests } from "./setup.mjs";
import { silenceBegins, silenceTests } from "./silence.mjs";
import { templatesTests } from "./templates.mjs";
import { startWorld } from "./world.mjs";

test.describe.configure({ mode: "serial" });

/** Filled when everything runs; the tests get it now and look into it then. */
const world = {};

test.beforeAll(async () => {
  Object.assign(world, await startWorld());
  world.chats = await openChats(world);
});
test.afterAll(() => world.stop?.());

// In this order: the first connects, and what takes two minutes begins early.
setupTests(world);
templatesTests(world);
silenceBegins(world);
connectionTests(world);
pipeTests(world);
silenceTests(world);
