/** axe finds no violations on any screen, in both themes and languages, wide and narrow. */
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser;
test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(async () => {
  await browser.close();
});

const sections = {
  general: "[role=switch]",
  models: ".model .name",
  agents: ".rows > li",
  tools: ".rows > li",
  keys: "form",
};

async function visitAgentForm(page) {
  await page.locator(".rows .icon-button").first().click();
  await page.locator("form [role=group] input[type=checkbox]").first().waitFor();
  await page.locator("form summary").click();
  await check(page, "the form of an agent");
}

async function visitDebug(page) {
  const complete = page.locator(".debug [data-state=complete]");
  await complete.waitFor();
  await page.locator("[data-row]").first().waitFor();
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
  await check(page, "debug search", "aside");
  await page.locator(".debug [type=search]").fill("");
  await page.locator(".debug .choice").last().click();
  await page.locator("[data-value=openai]").click();
  await page.locator("[data-row]", { hasText: "chunk.content" }).first().waitFor();
  await complete.waitFor();
  await page.locator("[data-row]").nth(2).click();
  await page.locator(".debug pre").waitFor();
  await check(page, "debug as OpenAI", "aside");
}

async function visitKnowledge(page, { knowledge, user }) {
  const handbook = knowledge.add(user.id, { name: "Handbook", description: "How we work.", open: true });
  const text = "# Holidays\n\nThirty days.\n\n## Carried over\n\nFive days may be carried over.";
  knowledge.put(handbook, "holidays.md", Buffer.from(text));
  knowledge.put(handbook, "broken.pdf", Buffer.from("%PDF"));
  knowledge.readAll();
  const waiting = knowledge.put(handbook, "waiting.md", Buffer.from("# Later"));
  waiting.state = "waiting";
  knowledge.rests = true;
  knowledge.add("user_2", { name: "Recipes", open: true }, "Bob Byte");
  await page.goto("/knowledge");
  await page.locator(".rows a").nth(1).waitFor();
  await check(page, "collections");
  await page.locator("header .button").click();
  await page.locator("dialog textarea").waitFor();
  await check(page, "the form of a collection");
  await page.keyboard.press("Escape");
  await page.goto(`/knowledge/${handbook.id}?q=carried%20days`);
  await page.locator("article summary").first().click();
  await page.locator("dl").first().waitFor();
  await page.locator(".problem").first().waitFor();
  await check(page, "a collection and what was found");
  await page.locator("article > a").first().click();
  await page.locator("article mark").first().waitFor();
  await check(page, "a document");
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
  await page.locator("aside .file").first().click();
  await page.locator("aside .views button").last().click();
  await page.locator("aside tr.added").first().waitFor();
  await check(page, "history of a file");
  await page.locator("[role=tab]").nth(2).click();
  await visitDebug(page);
  for (const [section, content] of Object.entries(sections)) {
    await page.goto(`/settings/${section}`);
    await page.locator(content).first().waitFor();
    await check(page, section);
    if (section === "agents") await visitAgentForm(page);
  }
  await visitKnowledge(page, server);
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
          // Reduced motion, so that nothing is caught while fading in.
          await visit(page, server);
        } finally {
          await page.context().close();
          await server.close();
        }
      });
    }
  }
}
