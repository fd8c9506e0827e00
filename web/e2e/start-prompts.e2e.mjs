/** Administrators set the example prompts of a new chat, and everyone sees them, with the real program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { addPerson, bob as other, callApi, connectModel, logIn, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, model, ada, bob;

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const picture = async (page, name) => {
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: join(process.env.E2E_PICTURES, `${name}.png`) });
};

test.beforeAll(async () => {
  const cases = [{ contains: "", turns: [turn(text("Here is the report."))] }];
  [browser, model, glasshouse] = await Promise.all([launch(), startModel(cases), startGlasshouse()]);
  ada = await openPage(browser, { url: glasshouse.url });
  bob = await openPage(browser, { url: glasshouse.url });
  await setUp(ada);
  await connectModel(ada, model);
  await addPerson(ada);
  await logIn(bob, other);
  await bob.locator("#composer").waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const button = (name) => ada.getByRole("button", { name, exact: true });
const field = (name, at) => ada.getByLabel(name, { exact: true }).nth(at);
const cards = (page) => page.getByRole("list", { name: "Examples" }).getByRole("button", { name: /\S/ });
const stored = async () => {
  const { settings } = await callApi(ada, glasshouse.url, "get", "/settings");
  return settings.find(({ name }) => name === "start_prompts").value;
};

test("an administrator finds the form by search and adds two examples", async () => {
  await ada.goto("/settings");
  await ada.getByRole("combobox", { name: "Search settings" }).fill("example prom");
  await ada
    .getByRole("option", { name: /Example prompts/ })
    .first()
    .click();
  await ada.waitForURL("**/settings/prompts");
  await ada.getByText("New chats show the built-in examples").waitFor();
  await check(ada, "no example prompts");
  await picture(ada, "prompts-none");
  await button("Add example").click();
  await ada.keyboard.type("Weekly report");
  await ada.keyboard.press("Tab");
  await ada.keyboard.type("Write a report of my week.\nAsk me about it first.");
  await button("Add example").click();
  await field("Prompt", 1).fill("Translate this into French:");
  // Unsent work is asked about.
  await ada.getByRole("link", { name: "Tools", exact: true }).click();
  await ada.getByRole("button", { name: "Keep editing" }).click();
  await button("Move example 2 up").press("Enter");
  await button("Move example 1 down").press("Enter");
  await check(ada, "example prompts");
  await picture(ada, "prompts-form");
  await button("Save").click();
  await ada.getByText("Saved").waitFor();
  assert.deepEqual(await stored(), [
    "Weekly report\nWrite a report of my week.\nAsk me about it first.",
    "Translate this into French:",
  ]);
});

test("an ordinary person sees them, sends one with a click and completes the other", async () => {
  await bob.goto("/");
  await cards(bob).filter({ hasText: "Weekly report" }).waitFor();
  await bob
    .getByRole("list", { name: "Examples" })
    .getByText("Compare in parallel")
    .waitFor({ state: "detached" });
  await cards(bob).filter({ hasText: "Translate" }).click();
  await hasValue(bob.locator("#composer"), "Translate this into French:\n");
  await bob.keyboard.type("Good morning");
  await hasValue(bob.locator("#composer"), "Translate this into French:\nGood morning");
  await bob.locator("#composer").fill("");
  await cards(bob).filter({ hasText: "Weekly report" }).click();
  await bob.waitForURL("**/c/**");
  await bob.getByRole("article", { name: "You" }).getByText("Ask me about it first.").waitFor();
});

test("the administrator's own new chat has them without a reload", async () => {
  await ada
    .getByRole("button", { name: /^New chat/ })
    .first()
    .click();
  await cards(ada).filter({ hasText: "Weekly report" }).waitFor();
});

test("a removed example comes back, and the built-in ones return", async () => {
  await ada.goto("/settings/prompts");
  await button("Remove example 1").press("Enter");
  await hasValue(field("Prompt", 0), "Translate this into French:");
  await button("Undo").click();
  await hasValue(field("Title (optional)", 0), "Weekly report");
  await button("Remove example 2").press("Enter");
  await button("Save").click();
  await until("one is stored", async () => (await stored()).length === 1);
  await button("Use the built-in examples").click();
  await ada.getByText("New chats show the built-in examples, in").waitFor();
  assert.deepEqual(await stored(), []);
  await button("Undo").last().click();
  await hasValue(field("Title (optional)", 0), "Weekly report");
  assert.equal((await stored()).length, 1);
});

const long = "Compare the three offers in the attached files and list what each of them leaves out. ".repeat(
  6,
);
const arabic =
  "ملخص الاجتماع\nاكتب ملخصًا للاجتماع من هذه الملاحظات، مع القرارات والمهام وأسماء المسؤولين عنها:";
const sets = {
  1: ["Weekly report\nWrite a report of my week. Ask me about it first."],
  3: ["Summarize the attached file.", "Translate this into French:", "Draft a reply to this customer:"],
  6: [
    "Weekly report\nWrite a report of my week. Ask me about it first.",
    "Summarize the attached file.",
    `A title that is much longer than one line of a card, as somebody will write one some day\n${long}`,
    long,
    arabic,
    "x".repeat(400),
  ],
};

for (const [count, prompts] of Object.entries(sets)) {
  test(`${count} own examples fit on the page of a new chat`, async () => {
    await callApi(ada, glasshouse.url, "patch", "/settings", { values: { start_prompts: prompts } });
    const looks = {
      "desktop-light": { preferences: { theme: "light", language: "en", tourHidden: true } },
      "phone-dark-ru": { ...phone, preferences: { theme: "dark", language: "ru" } },
      "desktop-dark-ar": { preferences: { theme: "dark", language: "ar" } },
    };
    for (const [look, options] of Object.entries(looks)) {
      const page = await openPage(browser, { url: glasshouse.url, ...options });
      await page.context().addCookies(await bob.context().cookies());
      await page.goto("/");
      await page
        .locator(".card")
        .nth(prompts.length - 1)
        .waitFor();
      await check(page, `${count} examples, ${look}`);
      const excess = await page.evaluate(() => {
        const empty = document.querySelector(".empty");
        const wide = [...empty.querySelectorAll("*")].map((one) => one.scrollWidth - one.clientWidth);
        return Math.max(
          empty.scrollWidth - empty.clientWidth,
          document.body.scrollWidth - innerWidth,
          ...wide.filter((by) => by > 40),
        );
      });
      assert.ok(excess <= 0, `${look} is ${excess} px too wide`);
      await picture(page, `cards-${count}-${look}`);
      await page.context().close();
    }
  });
}

test("on a phone the form has room, in Russian too", async () => {
  const page = await openPage(browser, {
    url: glasshouse.url,
    ...phone,
    preferences: { theme: "dark", language: "ru" },
  });
  await page.context().addCookies(await ada.context().cookies());
  await page.goto("/settings/prompts");
  await page.getByRole("button", { name: "Переместить пример 1 ниже" }).waitFor();
  await check(page, "example prompts on a phone");
  await picture(page, "prompts-phone-dark-ru");
  await page.context().close();
});
