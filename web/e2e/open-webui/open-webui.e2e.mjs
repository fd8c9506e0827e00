/** Published Open WebUI with Glasshouse behind it, in both ways described in the guide. */
import { test } from "@playwright/test";
import { openChats } from "./chat.mjs";
import { connectionTests } from "./connection.mjs";
import { pipeTests } from "./pipe.mjs";
import { setupTests } from "./setup.mjs";
import { silenceBegins, silenceTests } from "./silence.mjs";
import { templatesTests } from "./templates.mjs";
import { startWorld } from "./world.mjs";

test.describe.configure({ mode: "serial" });

/** Filled once everything runs; the tests get the reference now and read it later. */
const world = {};

test.beforeAll(async () => {
  Object.assign(world, await startWorld());
  world.chats = await openChats(world);
});
test.afterAll(() => world.stop?.());

// In this order: the first connects, and the test that takes two minutes starts early.
setupTests(world);
templatesTests(world);
silenceBegins(world);
connectionTests(world);
pipeTests(world);
silenceTests(world);
