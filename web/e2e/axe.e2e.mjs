/** axe finds nothing on any screen, in both themes and both languages, wide and narrow. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch, openPage, unfold } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

async function check(page, screen, part = "html") {
  // The page's policy forbids foreign scripts, so axe comes in through the debugger.
  if (!(await page.evaluate(() => "axe" in window))) {
    const { readFile } = await import("node:fs/promises");
    await page.evaluate(await readFile(axePath, "utf8"));
  }
  const { violations } = await page.evaluate((part) => window.axe.run(part), part);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${screen}: ${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
  );
  assert.deepEqual(found, []);
}

const sections = { appearance: "[role=switch]", models: ".model .name", keys: "form" };

/** Waits until a log is there; rows are hidden for the moment in which the list measures them. */
async function measured(page) {
  await page.locator(".debug [data-state=complete]").waitFor();
  await page.waitForFunction(async () => {
    for (let frame = 0; frame < 3; frame += 1) {
      if (!document.querySelector("[data-row]") || document.querySelector(".list [style*=hidden]"))
        return false;
      await new Promise(requestAnimationFrame);
    }
    return true;
  });
}

async function visitDebug(page) {
  await measured(page);
  await check(page, "debug");
  const menus = page.locator(".debug [aria-haspopup=menu]");
  for (let index = 0; index < (await menus.count()); index += 1) {
    await menus.nth(index).click();
    await page.locator(".menu:popover-open [role^=menuitem]").first().waitFor();
    await check(page, `debug menu ${index + 1}`, "aside");
    await page.keyboard.press("Escape");
  }
  await page.locator(".debug [type=search]").fill("licence");
  await page.locator(".debug mark").first().waitFor();
  await page.locator("[data-row]").nth(1).click();
  await page.locator(".debug pre mark").first().waitFor();
  await measured(page);
  await check(page, "debug search", "aside");
  await page.locator(".debug [type=search]").fill("");
  await page.locator(".debug .choice").last().click();
  await page.locator("[data-format=openai]").click();
  await page.locator("[data-row]", { hasText: "chunk.content" }).first().waitFor();
  await page.locator("[data-row]").nth(2).click();
  await page.locator(".debug pre").waitFor();
  await measured(page);
  await check(page, "debug as OpenAI", "aside");
}

async function visit(page, server) {
  await page.goto("/");
  await page.locator(".empty button").first().waitFor();
  await check(page, "empty");
  await page.locator("#composer").fill("tour");
  await page.locator(".send").click();
  await page.locator("[data-allow]").waitFor();
  await check(page, "approval");
  await page.locator("[data-allow]").click();
  await page.locator(".facts").waitFor();
  await unfold(page.locator("[data-steps-toggle]"));
  await page.locator(".steps .line").nth(3).click();
  await check(page, "steps");
  await page.locator("main > header .icon-button").last().click();
  await page.locator("[role=tab]").first().waitFor();
  await check(page, "panel");
  await page.locator("[role=tab]").nth(2).click();
  await visitDebug(page);
  for (const [section, content] of Object.entries(sections)) {
    await page.goto(`/settings/${section}`);
    await page.locator(content).first().waitFor();
    await check(page, section);
  }
  await page.goto("/welcome");
  await page.locator(".card .button").first().waitFor();
  await check(page, "welcome");
  server.signedIn = false;
  await page.goto("/login");
  await page.locator("form").waitFor();
  await check(page, "login");
}

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
for (const theme of ["light", "dark"]) {
  for (const language of ["en", "ru"]) {
    for (const [size, device] of [
      ["wide", {}],
      ["narrow", phone],
    ]) {
      test(`${theme}, ${language}, ${size}`, async () => {
        const server = await new FakeServer({ pace: 0.05, account: true, model: true }).listen();
        const preferences = { theme, language };
        const page = await openPage(browser, {
          url: server.url,
          preferences,
          reducedMotion: "reduce",
          ...device,
        });
        try {
          // Without motion nothing is caught half faded in.
          await visit(page, server);
        } finally {
          await page.context().close();
          await server.close();
        }
      });
    }
  }
}
