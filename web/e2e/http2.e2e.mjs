/** HTTP/2 with the TLS of the server itself: many tabs with live updates share one connection. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

let browser, glasshouse, folder;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glasshouse-tls-"));
  const [certificate, key] = ["cert.pem", "key.pem"].map((name) => join(folder, name));
  const made =
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
  execFileSync("openssl", [...made.split(" "), "-keyout", key, "-out", certificate], { stdio: "ignore" });
  browser = await launch();
  glasshouse = await startGlasshouse({
    GLASSHOUSE_TLS_CERTIFICATE: certificate,
    GLASSHOUSE_TLS_KEY: key,
    GLASSHOUSE_TLS_HTTP2: "true",
  });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await rm(folder, { recursive: true });
});

test("ten tabs with live updates do not wait for each other", async () => {
  const { url } = glasshouse;
  const page = await openPage(browser, { url, ignoreHTTPSErrors: true });
  await setUp(page);
  const protocols = () =>
    page.evaluate(() => {
      const all = [
        ...performance.getEntriesByType("navigation"),
        ...performance.getEntriesByType("resource"),
      ];
      // A request that was given up, or answered by a cache, has none.
      return [...new Set(all.map(({ nextHopProtocol }) => nextHopProtocol).filter(Boolean))];
    });
  assert.deepEqual(await protocols(), ["h2"]);
  // With HTTP/1.1, a browser has six connections to a host, and each tab keeps one.
  for (let tab = 0; tab < 10; tab += 1) {
    const other = await page.context().newPage();
    await other.goto("/");
    await other.locator("#composer").waitFor();
  }
  await page.goto("/");
  await page.locator("#composer").fill("Show me how Glasshouse works");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("button", { name: "Allow once" }).click();
  await page
    .getByRole("button", { name: /^Sources|Regenerate|Copy$/ })
    .first()
    .waitFor();
  // A WebSocket has a connection of its own, with HTTP/1.1.
  const opened = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const socket = new WebSocket(`wss://${location.host}/ws`);
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
      }),
  );
  assert.ok(opened);
  assert.deepEqual(page.complaints, []);
});
