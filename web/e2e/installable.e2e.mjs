/** The web app manifest and its icons, from the real program. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage, until } from "./browser.mjs";
import { startGlasshouse } from "./programs.mjs";

let browser, glasshouse;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

test("the page can be installed as an app", async () => {
  const page = await openPage(browser, { url: glasshouse.url, preferences: { theme: "dark" } });
  await page.goto("/");
  const session = await page.context().newCDPSession(page);
  const { url, errors, data } = await session.send("Page.getAppManifest");
  assert.equal(url, `${glasshouse.url}/manifest.webmanifest`);
  assert.deepEqual(errors, []);
  const manifest = JSON.parse(data);
  assert.equal(manifest.display, "standalone");
  assert.equal((await session.send("Page.getAppId")).appId, `${glasshouse.url}/`);

  const answer = await page.request.get(url);
  assert.equal(answer.headers()["content-type"], "application/manifest+json");
  for (const { src, sizes, type } of [
    ...manifest.icons,
    { src: "/apple-touch-icon.png", type: "image/png" },
  ]) {
    const icon = await page.request.get(src);
    assert.equal(icon.headers()["content-type"], type, src);
    if (type !== "image/png" || !sizes) continue;
    // The width in the header of a PNG.
    assert.equal((await icon.body()).readUInt32BE(16), Number.parseInt(sizes), src);
  }

  // The colour of the window follows the theme that one has chosen.
  const colours = () =>
    page.locator('meta[name="theme-color"]').evaluateAll((all) => all.map(({ content }) => content));
  assert.deepEqual(await colours(), ["#14161a", "#14161a"]);
  await page.evaluate(() => localStorage.setItem("glasshouse.preferences", '{"theme":"light"}'));
  await page.reload();
  await until("it is light", async () => (await colours()).every((colour) => colour === "#ffffff"));
  assert.deepEqual(page.complaints, []);
});
