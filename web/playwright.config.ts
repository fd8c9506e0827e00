/**
 * Playwright configuration of the browser journeys. The tests of a file share one server and one page and build on each other
 * (mode “serial”); three files run at a time, each with a server of its own, since they mostly wait.
 */
import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  projects: [
    { name: "glasshouse", testMatch: "**/*.e2e.mjs", testIgnore: "**/open-webui/**" },
    // Needs Open WebUI as it is published: `cargo xtask test --open-webui`.
    { name: "open-webui", testMatch: "**/open-webui/*.e2e.mjs" },
  ],
  workers: 3,
  timeout: 180_000,
  // The retry is traced; a test that passes only then is reported as flaky.
  retries: process.env["CI"] ? 1 : 0,
  forbidOnly: process.env["CI"] !== undefined,
  use: { trace: process.env["CI"] ? "on-first-retry" : "retain-on-failure" },
  reporter: "list",
});
