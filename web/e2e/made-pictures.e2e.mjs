/** A picture that a model makes, from a recorded answer of Gemini: in the answer, in its step, and after a reload. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";
import { connectProvider, startProvider } from "./provider.mjs";

test.describe.configure({ mode: "serial" });

const RECORDING = new URL(
  "../../crates/provider/tests/recordings/pictures/gemini_story.json",
  import.meta.url,
);
const [{ answer: STORY }] = JSON.parse(readFileSync(RECORDING, "utf8"));
const MODEL = "gemini-3-pro-image-preview";

let browser, glasshouse, provider, page;

test.beforeAll(async () => {
  [browser, glasshouse, provider] = await Promise.all([
    launch(),
    startGlasshouse(),
    startProvider({
      models: { models: [{ name: `models/${MODEL}` }] },
      answer: JSON.stringify(STORY),
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectProvider(page, glasshouse, provider, "gemini");
});
test.afterAll(async () => {
  await browser?.close();
  provider?.stop();
  await glasshouse?.stop();
});

const answer = () => page.locator(".turn").last().locator(".answer");

/** The picture stands below the story, and has been loaded. */
async function pictureIsShown() {
  await answer().getByText("A little axolotl named Archie").waitFor();
  const picture = answer().getByRole("img", { name: "image-generation" });
  await picture.waitFor();
  await page.waitForFunction(
    (image) => image.complete && image.naturalWidth === 1,
    await picture.elementHandle(),
  );
}

test("the answer shows the picture, while it is new and after a reload", async () => {
  await page.goto("/");
  await page.getByLabel("Message", { exact: true }).fill("A story about an axolotl, with a picture.");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.waitForURL(/\/c\//);
  await pictureIsShown();
  await page.reload();
  await pictureIsShown();
  await check(page, "a picture that a model has made");
});

test("making it is a step of the provider's with the picture", async () => {
  await unfold(page.getByRole("button", { name: /Execution steps/ }).first());
  const turn = page.locator(".turn").last();
  await turn
    .getByRole("button", { name: /image_generation/ })
    .first()
    .getByText("run by the provider")
    .waitFor();
  await turn
    .locator("figure, li, a, button")
    .getByRole("img", { name: "image-generation" })
    .first()
    .waitFor();
});

test("the next answer is asked for with the picture, as it came", async () => {
  await page.getByLabel("Message", { exact: true }).fill("Go on.");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll(".turn .answer img").length >= 2);
  await pictureIsShown();
  assert.deepEqual(JSON.parse(provider.asked.at(-1)).contents[1], STORY.candidates[0].content);
});
