/** Temporary: pictures. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { launch, openPage, until } from "./browser.mjs";
import { ada, callApi, logIn, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";
test("pictures", async () => {
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-source-"));
  for (let at = 1; at <= 14; at++) await writeFile(join(folder, `a long name of a page about the handbook ${at}.md`), `# ${at}\n`);
  const [browser, glasshouse] = await Promise.all([launch(), startGlasshouse({ GLASSHOUSE_KNOWLEDGE_SOURCE_FOLDERS: JSON.stringify([folder]), GLASSHOUSE_OUTBOUND_ALLOW: "127.0.0.0/8" })]);
  const page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  const call = (m, p, d) => callApi(page, glasshouse.url, m, p, d);
  const { id } = await call("post", "/knowledge", { name: "Handbook", description: "", open: false });
  const add = (name, from, secret) => call("post", `/knowledge/${id}/sources`, { name, settings: { from }, every_minutes: 60, ...(secret ? { secret } : {}) });
  const pages = await add("Pages", { kind: "folder", path: folder });
  await add("Wiki of the company", { kind: "confluence", url: "https://127.0.0.1:8443/wiki", edition: "cloud", email: "a@b.org" }, "tok");
  const list = async () => (await call("get", `/knowledge/${id}/sources`)).sources;
  await until("done", async () => (await list()).every(({ latest }) => latest.state !== "running"));
  for (let at = 1; at <= 12; at++) await rm(join(folder, `a long name of a page about the handbook ${at}.md`));
  await call("post", `/knowledge/${id}/sources/${pages.id}/sync`);
  await until("waits", async () => (await list()).some(({ latest }) => latest.state === "waiting"));
  const { id: empty } = await call("post", "/knowledge", { name: "Empty", description: "", open: false });
  const out = "/tmp/spics/x";
  for (const [language, theme, size, touch] of [["ru", "light", "desktop"], ["ru", "dark", "phone", true], ["ar", "light", "desktop"], ["ar", "dark", "phone", true], ["de", "light", "phone", true]]) {
    const viewport = size === "phone" ? { width: 390, height: 844 } : { width: 1280, height: 900 };
    const other = await openPage(browser, { url: glasshouse.url, preferences: { language: "en", theme }, viewport, colorScheme: theme, hasTouch: !!touch, isMobile: !!touch });
    other.setDefaultTimeout(8000);
    await logIn(other, ada);
    await other.waitForURL("**/welcome");
    await other.evaluate((p) => localStorage.setItem("glasshouse.preferences", JSON.stringify(p)), { language, theme });
    const shot = (name) => other.screenshot({ path: `${out}-${language}-${size}-${name}.png`, fullPage: false });
    await other.goto(`/knowledge/${id}`);
    await other.locator(".question").waitFor();
    await other.locator(".question summary").click();
    await other.locator(".question li").first().waitFor();
    await shot("page");
    await other.locator(".rows > li .actions button").nth(1).click();
    await other.locator("dialog details li, dialog details p").first().waitFor();
    await shot("log");
    await other.keyboard.press("Escape");
    await other.locator(".rows > li .actions button").nth(3).click();
    await shot("removal");
    await other.keyboard.press("Escape");
    await other.goto(`/knowledge/${empty}`);
    await other.locator(".first").waitFor();
    await shot("empty");
    await other.locator(".first button").click();
    await shot("kinds");
    for (let at = 0; at < 10; at++) {
      await other.locator("dialog .body ul button").nth(at).click();
      await other.locator("dialog form").waitFor();
      if (size === "desktop" && language !== "en" && [0, 1, 2].includes(at)) await other.locator("dialog summary").click();
      if (size === "phone" || at < 9) {
        await other.evaluate(() => { const d = document.querySelector("dialog"); d.style.maxHeight = "none"; d.style.overflow = "visible"; });
        await other.setViewportSize({ width: viewport.width, height: 1500 });
        await shot(`form-${at}`);
        await other.setViewportSize(viewport);
      }
      await other.locator("dialog .back button").click();
    }
    await other.context().close();
  }
  await browser.close();
  await glasshouse.stop();
});
