/**
 * A chat in a server directory: selected, changed by the agent and by another editor, and reverted; with the real
 * program.
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  {
    contains: "Change the title",
    turns: [
      turn(calls(["edit_file", { path: "/src/page.html", old_text: "Old", new_text: "New" }])),
      turn(text("The title is new.")),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

const pictures = process.env.PICTURES;
let browser, folder, glasshouse, model, page;

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glasshouse-site-"));
  await mkdir(join(folder, "site/src"), { recursive: true });
  await writeFile(join(folder, "site/src/page.html"), "<h1>Old</h1>\n");
  const workspace = (name, more) =>
    `[[workspaces]]\nname = "${name}"\npath = ${JSON.stringify(join(folder, "site"))}\n${more}\n`;
  const config = join(folder, "own.toml");
  await writeFile(config, workspace("site", "") + workspace("handbook", "read_only = true"));
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse({ GLASSHOUSE_CONFIG: config }),
    startModel(CASES),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
  await rm(folder, { recursive: true });
});

const onDisk = () => readFile(join(folder, "site/src/page.html"), "utf8");
const picker = () => page.getByRole("button", { name: /choose a working folder/ });

async function picture(name) {
  if (!pictures) return;
  for (const theme of ["light", "dark"]) {
    for (const [width, height] of [
      [1280, 800],
      [390, 780],
    ]) {
      await page.setViewportSize({ width, height });
      await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
      await page.waitForTimeout(250);
      await page.screenshot({ path: `${pictures}/${name}-${theme}-${width}.png` });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
}

test("a new chat works in a directory, and a change is undone only while it is still there", async () => {
  await picker().click();
  const choices = page.getByRole("dialog");
  await choices.getByRole("button", { name: /handbook read-only/ }).waitFor();
  await picture("choices");
  await choices.getByRole("button", { name: "site" }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Change the title");
  await page.keyboard.press("Enter");
  await page.getByText("The title is new.").waitFor();
  assert.equal(await onDisk(), "<h1>New</h1>\n");
  // The choice is fixed for the chat, and applies only to it.
  assert.equal(await picker().count(), 0);
  await page.reload();
  await page.getByTitle("Working folder: site").waitFor();

  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByRole("button", { name: /^src\/page\.html/ }).click();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: /Version 2/ }).waitFor();
  await writeFile(join(folder, "site/src/page.html"), "<h1>By an editor</h1>\n");
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByText(/has changed in the meantime/).waitFor();
  assert.equal(await onDisk(), "<h1>By an editor</h1>\n");
  // The editor's change is a version now, and can be reverted.
  await page.getByRole("button", { name: /Version 3/ }).waitFor();
  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByRole("button", { name: /Version 4/ }).waitFor();
  assert.equal(await onDisk(), "<h1>Old</h1>\n");
  await picture("history");
});

test("the next chat has files of its own again", async () => {
  await page.goto("/");
  await picker().waitFor();
  assert.match(await picker().innerText(), /This chat only/);
});
