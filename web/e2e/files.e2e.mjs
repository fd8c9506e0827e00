/** Files of a chat in the panel: uploaded, compared, restored, shown as images, zipped. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { launch, openPage, unfold } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(async () => {
  await browser.close();
});

test.beforeEach(async () => {
  server = await new FakeServer({ pace: 0.2, account: true, model: true }).listen();
  page = await openPage(browser, { url: server.url });
  const chat = server.addChat("Notes");
  await page.goto(`/c/${chat.id}`);
  await page.getByRole("button", { name: "Open panel" }).click();
  await page.getByText("No files in this chat yet").waitFor();
});
test.afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  await server.close();
});

const upload = (...files) => page.locator("aside input[type=file]").setInputFiles(files);
const textFile = (name, text) => ({ name, mimeType: "text/markdown", buffer: Buffer.from(text) });
/** The smallest possible PNG: one pixel. */
const picture = {
  name: "plot.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  ),
};
const rows = (kind) => page.locator(`aside tr.${kind} .line`);

test("upload, compare, restore, pack", async () => {
  await upload(textFile("plan.md", "one\ntwo\nthree\n"), picture);
  await page
    .getByRole("button", { name: /plot\.png/ })
    .first()
    .waitFor();
  await upload(textFile("plan.md", "one\n2\nthree\nfour\n"));
  const file = page.getByRole("button", { name: /^plan\.md/ });
  await file.click();
  await page.getByText("version 2").waitFor();
  await page.getByRole("button", { name: "History" }).click();
  await page.getByRole("button", { name: /Version 2/ }).waitFor();
  assert.deepEqual(await rows("added").allInnerTexts(), ["2", "four"]);
  assert.deepEqual(await rows("removed").allInnerTexts(), ["two"]);

  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByText("Restored version 1 of “plan.md”.").waitFor();
  await page.getByRole("button", { name: /Version 3/ }).waitFor();
  await page.getByRole("button", { name: "Content" }).click();
  await page.locator("aside .document", { hasText: "two" }).waitFor();
  await page.getByRole("button", { name: "Back" }).click();

  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download all as ZIP" }).click();
  assert.equal((await download).suggestedFilename(), "files.zip");
});

test("what is deleted comes back with one click", async () => {
  await upload(textFile("plan.md", "one\n"));
  await page.getByRole("button", { name: "Delete: /plan.md" }).click();
  await page.getByText("Deleted “plan.md”.").waitFor();
  await page.getByText("No files in this chat yet").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: /^plan\.md/ }).waitFor();
});

test("what was deleted long ago is listed, and comes back from there", async () => {
  await upload(textFile("plan.md", "one\n"));
  await upload(textFile("notes.md", "two\n"));
  for (const name of ["plan.md", "notes.md"]) {
    await page.getByRole("button", { name: `Delete: /${name}` }).click();
    await page.getByText(`Deleted “${name}”.`).waitFor();
  }
  await page.getByText("2 deleted files").click();
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: `${process.env.E2E_PICTURES}/deleted-files.png` });
  await page.getByRole("button", { name: "Restore: /plan.md" }).click();
  await page.getByText("Restored version 1 of “plan.md”.").waitFor();
  await page.getByText("1 deleted file").waitFor();
  await page.getByRole("button", { name: /^plan\.md/ }).click();
  await page.locator("aside .document", { hasText: "one" }).waitFor();
});

test("what an agent has changed meanwhile is not overwritten unseen", async () => {
  const { files } = [...server.chats.values()].at(-1);
  const now = () => files.list().map(({ path, version, size_bytes }) => ({ path, version, size_bytes }));
  await upload(textFile("plan.md", "one\n"));
  await page.getByRole("button", { name: /^plan\.md/ }).waitFor();
  files.write("/plan.md", "the agent's\n");
  await upload(textFile("plan.md", "two\n"));
  await page.getByText("“plan.md” changed since you opened it, so your version wasn’t saved.").waitFor();
  assert.deepEqual(now(), [{ path: "/plan.md", version: 2, size_bytes: 12 }]);
  await page.getByRole("button", { name: "Overwrite" }).click();
  await page.getByRole("button", { name: /^plan\.md 4/ }).waitFor();
  assert.deepEqual(now(), [{ path: "/plan.md", version: 3, size_bytes: 4 }]);

  files.write("/plan.md", "the agent's again\n");
  await page.getByRole("button", { name: "Delete: /plan.md" }).click();
  await page.getByText("“plan.md” changed since you opened it, so it wasn’t deleted.").waitFor();
  assert.equal(now()[0].version, 4);
  await page.getByRole("button", { name: "Delete anyway" }).click();
  await page.getByText("Deleted “plan.md”.").waitFor();

  files.write("/new.md", "the agent's\n");
  await upload(textFile("new.md", "mine\n"));
  await page.getByText("“new.md” changed since you opened it").waitFor();
  assert.deepEqual(now(), [{ path: "/new.md", version: 1, size_bytes: 12 }]);
  // The browser logs each 409 itself.
  const refused = page.complaints.splice(0).filter((text) => !text.includes("409"));
  assert.deepEqual(refused, []);
});

test("files that are dropped on the panel are added, and a picture is shown", async () => {
  const data = await page.evaluateHandle(
    (bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(bytes)], "plot.png", { type: "image/png" }));
      data.items.add(new File(["no picture"], "fake.png", { type: "image/png" }));
      return data;
    },
    [...picture.buffer],
  );
  const area = page.locator("aside .files");
  await area.dispatchEvent("dragover", { dataTransfer: data });
  await page.getByText("Drop files here to add them to this chat.").first().waitFor();
  await area.dispatchEvent("drop", { dataTransfer: data });
  await page.getByRole("button", { name: /^fake\.png/ }).waitFor();
  await page.getByRole("button", { name: /^plot\.png/ }).click();
  const shown = page.getByRole("img", { name: "Image plot.png" });
  await shown.waitFor();
  assert.equal(await shown.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
  await page.getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: /^fake\.png/ }).click();
  await page.getByText("no picture").waitFor();
});

test("a text shows pictures of the chat's files, and nothing from elsewhere by itself", async () => {
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  const text = "![Rain](plot.png) ![None](/none.png) ![Far](https://elsewhere.example/x.png) ![Up](../x.png)";
  await upload(picture, textFile("report.md", text));
  await page.getByRole("button", { name: /^report\.md/ }).click();
  const shown = page.locator("aside .document img");
  await shown.first().waitFor();
  await page.locator("aside .document").getByText("None").waitFor();
  assert.deepEqual(await shown.evaluateAll((all) => all.map((image) => image.alt)), ["Rain"]);
  await page.getByRole("button", { name: /Load image from elsewhere\.example/ }).waitFor();
  assert.deepEqual(
    asked.filter((url) => !url.startsWith(server.url)),
    [],
  );
  page.complaints = page.complaints.filter((complaint) => !/404/.test(complaint));
});

test("a file that is too large is not sent", async () => {
  await upload({ name: "big.bin", mimeType: "application/octet-stream", buffer: Buffer.alloc(10_000_001) });
  await page.getByText("“big.bin” is larger than 10 MB.").waitFor();
  await page.getByText("No files in this chat yet").waitFor();
});

test("a change of a run shows its lines and opens what changed", async () => {
  await page.getByRole("textbox", { name: "Message" }).fill("Give me the tour");
  await page.keyboard.press("Enter");
  await page.locator("[data-allow]").click();
  await page.getByRole("button", { name: "Regenerate" }).last().waitFor();
  await unfold(page.locator("[data-steps-toggle]"));
  await page.getByRole("button", { name: "Show the changes of report.md" }).last().click();
  await rows("added").first().waitFor();
  assert.equal(await rows("added").count(), 4);
  assert.equal(await rows("removed").count(), 1);
});
