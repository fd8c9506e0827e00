/** Images as documents with the real program: a model describes them, and the description is found and shown. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { deflateSync } from "node:zlib";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const SEEN = "## Text\n\nWALRUS 400 EUR\n\n## Picture\n\nA sign at the harbour with the price of a walrus.";
const CASES = [
  { contains: "“sign.png”", turns: [turn(text(SEEN))] },
  { turns: [{ status: 400, headers: {}, body: "This model takes no pictures." }] },
];

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse({ GLASSHOUSE_KNOWLEDGE_VISION_MODEL: "scripted" }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/pictures-${name}.png` });
}
const row = (name) => page.locator(".rows > li", { has: page.getByRole("link", { name, exact: true }) });

/** A complete image of one colour; its checksums are not verified. */
function png(width, height) {
  const part = (kind, data) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(kind), data, Buffer.alloc(4)]);
  };
  const head = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  const lines = deflateSync(Buffer.alloc((width + 1) * height));
  const magic = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([magic, part("IHDR", head), part("IDAT", lines), part("IEND", Buffer.alloc(0))]);
}

test("a model looks at a picture, and what it sees is found and shown", async () => {
  await page.goto("/knowledge");
  await page.getByRole("button", { name: "New collection" }).click();
  await page.getByLabel("Name").fill("Signs");
  await page.getByRole("button", { name: "Save" }).click();
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([
      { name: "sign.png", mimeType: "image/png", buffer: png(64, 48) },
      { name: "huge.png", mimeType: "image/png", buffer: png(64, 48).fill(0xff, 16, 18) },
      { name: "other.png", mimeType: "image/png", buffer: png(32, 32) },
    ]);
  await row("sign.png")
    .getByText(/\d passages?/)
    .waitFor();
  await row("huge.png").getByText("The image is too large").waitFor();
  await row("other.png").getByText("Reading image…").waitFor();
  await row("other.png").getByText("The vision model failed.").waitFor();
  await picture("documents");
  await check(page, "pictures as documents");
  await page.getByRole("button", { name: "Stop processing “other.png”" }).click();
  await row("other.png").getByText("Stopped.").waitFor();

  await page.getByRole("main").getByRole("searchbox").fill("price of a walrus");
  await page.keyboard.press("Enter");
  await page.getByRole("article").first().getByRole("link", { name: "sign.png" }).click();
  await page.locator("article mark").first().waitFor();
  await page.getByText("WALRUS 400 EUR").waitFor();
  await picture("text");
  assert.deepEqual(page.complaints, []);
});
