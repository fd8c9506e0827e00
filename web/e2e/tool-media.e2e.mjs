/** Images and HTML returned by a tool, and audio in a message, with the real program: shown, played, and kept. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold } from "./browser.mjs";
import { PATH, WIDE, config } from "./open-webui/camera.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const NAME = PATH.slice(PATH.lastIndexOf("/") + 1);
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const CASES = [
  // The model receives the image as a user message.
  { contains: "returned beside text", turns: [turn(text(`The light is on: ![the light](${PATH})`))] },
  { contains: "Look at the light", turns: [turn(calls(["camera__shoot", {}]))] },
  { turns: [turn(text("I hear it."))] },
];

let browser, folder, model, glasshouse, page;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glasshouse-config-"));
  const file = join(folder, "glasshouse.toml");
  await writeFile(file, config());
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse({ GLASSHOUSE_CONFIG: file }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
  await rm(folder, { recursive: true });
});

/** Waits until an image has loaded completely. */
const whole = async (image) =>
  page.waitForFunction(
    ([image, width]) => image.complete && image.naturalWidth === width,
    [await image.elementHandle(), WIDE],
  );

test("document_001: a tool's picture shows in its row and in the answer, its HTML after a click", async () => {
  await page.goto("/");
  await page.getByRole("textbox").first().fill("Look at the light.");
  await page.keyboard.press("Enter");
  const inAnswer = page.getByRole("img", { name: "the light" });
  await inAnswer.waitFor();
  await whole(inAnswer);
  await unfold(page.getByRole("button", { name: /steps?/ }).first());
  const inRow = page.getByRole("img", { name: NAME });
  await inRow.waitFor();
  await whole(inRow);
  assert.equal(await page.locator("iframe:not(.render-frame)").count(), 0, "nothing is opened unasked");
  await page.getByRole("button", { name: /^Show camera--shoot-.*\.html$/ }).click();
  const frame = page.locator("iframe:not(.render-frame)");
  await frame.contentFrame().getByText("Panel of the light").waitFor();
  assert.equal(await frame.getAttribute("sandbox"), "allow-scripts");
  await check(page, "media of a tool");
  await page.reload();
  await whole(page.getByRole("img", { name: "the light" }));
});

test("document_002: a sound is attached like a picture", async () => {
  await page.goto("/");
  const wav = { name: "voice.wav", mimeType: "audio/wav", buffer: Buffer.from(WAV, "base64") };
  await page.locator("input[type=file]").first().setInputFiles(wav);
  await page.getByRole("button", { name: "Remove voice.wav" }).waitFor();
  await check(page, "a sound before it is sent");
  await page.getByRole("textbox").first().fill("What do you hear?");
  await page.keyboard.press("Enter");
  await page.getByText("I hear it.").waitFor();
  await page.locator("audio").waitFor();
  const chat = new URL(page.url()).pathname.split("/").at(-1);
  const kept = await (await page.request.get(`/api/v1/chats/${chat}`)).json();
  const parts = kept.messages[0].content;
  assert.deepEqual(parts.at(-1), { type: "audio", url: `data:audio/wav;base64,${WAV}` });
});

test("document_002: sound in a message has a player", async () => {
  const headers = { origin: glasshouse.url };
  const made = await page.request.post("/api/v1/chats", { headers, data: {} });
  const chat = (await made.json()).id;
  const content = [
    { type: "text", text: "What is this?" },
    { type: "audio", url: `data:audio/wav;base64,${WAV}` },
  ];
  const sent = await page.request.post(`/api/v1/chats/${chat}/messages`, { headers, data: { content } });
  assert.equal(sent.status(), 200, await sent.text());
  await page.goto(`/c/${chat}`);
  const player = page.locator("audio");
  await player.waitFor();
  await page.waitForFunction((audio) => audio.readyState > 0, await player.elementHandle());
  await page.getByText("I hear it.").waitFor();
  await check(page, "sound in a message");
});
