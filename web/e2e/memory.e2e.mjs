/** Agent memory with the real program: written in a chat, viewed and edited in the settings, turned off. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage, unfold } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  {
    contains: "Remember",
    turns: [
      turn(calls(["memory_append", { name: "Drinks", text: "Likes green tea.\nNo sugar." }])),
      turn(text("I will remember that.")),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

let browser, glasshouse, model, page;

test.beforeAll(async () => {
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(), startModel(CASES)]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const memory = (name) => page.getByRole("main").getByRole("listitem").filter({ hasText: name });

test("what an agent remembers is a step of its run", async () => {
  await page.getByRole("textbox", { name: "Message" }).fill("Remember that I like green tea.");
  await page.keyboard.press("Enter");
  await page.getByText("I will remember that.").waitFor();
  await page.getByRole("button", { name: "Regenerate" }).waitFor();
  await unfold(page.locator("[data-steps-toggle]"));
  await page.getByRole("button", { name: /Remembered “Drinks”/ }).waitFor();
  await page.getByRole("link", { name: "Open the memory settings" }).click();
  await page.waitForURL("**/settings/personalization");
});

test("it is shown with who wrote it, changed and pinned", async () => {
  const kept = memory("Drinks");
  await kept.getByText("Likes green tea.").waitFor();
  await kept.getByText("written by main").waitFor();
  assert.match(await kept.getByRole("link", { name: "in this chat" }).getAttribute("href"), /^\/c\/chat_/);
  await kept.getByRole("button", { name: "Edit “Drinks”" }).click();
  await page.getByLabel("Text", { exact: true }).fill("Likes black tea.");
  await page.getByRole("switch", { name: "Always include" }).click();
  await page.getByRole("button", { name: "Save" }).click();
  await kept.getByText("always included").waitFor();
  await kept.getByText("Likes black tea.").waitFor();
  await kept.getByText("written by you").waitFor();
});

test("one is made, deleted, and brought back", async () => {
  await page.getByRole("button", { name: "New memory" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Work");
  await page.getByLabel("Text", { exact: true }).fill("Writes Rust.");
  await page.getByRole("button", { name: "Save" }).click();
  await memory("Work").getByText("Writes Rust.").waitFor();
  await page.getByRole("button", { name: "Delete: Work" }).click();
  await memory("Work").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await memory("Work").getByText("Writes Rust.").waitFor();
});

test("turned off, and still off after a reload", async () => {
  const use = page.getByRole("switch", { name: /^Use memory/ });
  assert.equal(await use.isChecked(), true);
  assert.equal(await page.getByRole("switch", { name: /^Learn about me/ }).isChecked(), false);
  const done = page.waitForResponse((response) => response.request().method() === "PUT");
  await use.click();
  await done;
  await page.reload();
  await use.waitFor();
  assert.equal(await use.isChecked(), false);
});

test("what was learned is corrected and forgotten", async () => {
  // The server learns facts only after minutes of inactivity in a chat, so its responses are mocked here.
  let facts = [
    {
      id: "fact_1",
      text: "Lives in Riga",
      chat: "chat_1",
      message: null,
      learned_at: 1.7e12,
      corrected: false,
    },
    {
      id: "fact_2",
      text: "Likes short answers",
      chat: null,
      message: null,
      learned_at: 1.7e12,
      corrected: false,
    },
  ];
  await page.route("**/api/v1/facts**", (route) => {
    const request = route.request();
    const id = new URL(request.url()).pathname.split("/")[4];
    if (request.method() === "PUT") {
      const { text } = request.postDataJSON();
      facts = facts.map((fact) => (fact.id === id ? { ...fact, text, corrected: true } : fact));
      return route.fulfill({ json: facts.find((fact) => fact.id === id) });
    }
    if (request.method() === "GET") return route.fulfill({ json: { facts } });
    facts = id ? facts.filter((fact) => fact.id !== id) : [];
    return route.fulfill({ status: 204 });
  });
  await page.reload();
  await memory("Lives in Riga").getByRole("link", { name: "from this chat" }).waitFor();
  await memory("Likes short answers").getByText("from a deleted chat").waitFor();
  await page.getByRole("button", { name: "Correct: Lives in Riga" }).click();
  await page.getByLabel("Corrected fact").fill("Lives in Tartu");
  await page.getByRole("button", { name: "Save" }).click();
  await memory("Lives in Tartu").getByText("edited by you").waitFor();
  await page.getByRole("button", { name: "Forget: Likes short answers" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await memory("Likes short answers").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Forget everything" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget everything" }).click();
  await page.getByText("Nothing learned yet").waitFor();
});
