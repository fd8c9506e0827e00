/** A single key press or click never destroys input, a run or the choice of model. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { hasValue, launch, openPage, until } from "./browser.mjs";
import { FakeServer } from "./fake/server.mjs";

test.describe.configure({ mode: "serial" });

let browser;
let server;
let page;

test.beforeAll(async () => {
  browser = await launch();
});
test.afterAll(() => browser.close());
test.beforeEach(async () => {
  server = await new FakeServer({ account: true, model: true, pace: 0.2 }).listen();
  page = await openPage(browser, { url: server.url });
  await page.goto("/");
  await box().waitFor();
});
test.afterEach(async () => {
  await page.context().close();
  await server.close();
});

const box = () => page.getByRole("textbox", { name: "Message" });
const again = () => page.getByText("Press Esc again to stop the run").last();
const run = () => [...server.runs.values()].at(-1);
async function say(text) {
  await box().fill(text);
  await page.keyboard.press("Enter");
}

/** Simulates dropping a file; returns whether the page prevented the browser from opening it. */
function drop(target, name = "dot.png") {
  return target.evaluate((element, name) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["picture"], name, { type: "image/png" }));
    const options = { bubbles: true, cancelable: true, dataTransfer: transfer };
    return ["dragover", "drop"].map((type) => !element.dispatchEvent(new DragEvent(type, options)));
  }, name);
}

test.describe("Escape", () => {
  test("closes a reason that is being typed, keeps it, and stops nothing", async () => {
    await say("Give me the tour");
    await page.getByRole("region", { name: /publish_note/ }).waitFor();
    await page.keyboard.press("Control+Alt+Backspace");
    await page.getByLabel(/Tell the agent why/).fill("not before Friday");
    await page.keyboard.press("Escape");
    await page.getByLabel(/Tell the agent why/).waitFor({ state: "detached" });
    await page.locator("[data-allow]").waitFor();
    assert.equal(run().stopped, false);
    assert.equal(await again().count(), 0);
    await page.locator("[data-deny]").click();
    await hasValue(page.getByLabel(/Tell the agent why/), "not before Friday");
  });

  test("closes edited arguments and keeps them", async () => {
    await say("Give me the tour");
    const card = page.getByRole("region", { name: /publish_note/ });
    await card.getByRole("button", { name: "Edit" }).click();
    const field = card.getByLabel("Note");
    await field.fill("mine");
    await field.press("Escape");
    await field.waitFor({ state: "detached" });
    assert.equal(run().stopped, false);
    await card.getByRole("button", { name: "Continue editing" }).press("Enter");
    await hasValue(field, "mine");
  });

  test("stops a run by a second press only, and says so after the first", async () => {
    await say("count");
    await page.getByText(/word40\b/).waitFor();
    await page.keyboard.press("Escape");
    await again().waitFor();
    assert.equal(run().stopped, false);
    await page.keyboard.press("Escape");
    await page.getByText("You stopped this answer.").waitFor();
  });

  test("held down, does not stop it", async () => {
    await say("count");
    await page.getByText(/word40\b/).waitFor();
    await page.keyboard.down("Escape");
    for (let repeat = 0; repeat < 10; repeat += 1) await page.keyboard.down("Escape");
    await again().waitFor();
    assert.equal(run().stopped, false);
    await page.keyboard.up("Escape");
  });

  test("closes a changed message and keeps what was changed", async () => {
    await say("hello");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    await page.locator("article.user").first().getByRole("button", { name: "Edit" }).click();
    const field = page.getByRole("textbox", { name: "Edit your message" });
    await field.fill("hello to all of you");
    await field.press("Escape");
    await field.waitFor({ state: "detached" });
    await page.locator("article.user").first().getByRole("button", { name: "Edit" }).click();
    await hasValue(field, "hello to all of you");
  });

  test("in a dialog with something typed asks first", async () => {
    await say("hello");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    // The row moves from “Running” to “Today” when the run ends; a click at that moment misses it.
    const sidebar = page.getByRole("navigation", { name: "Chats" });
    await sidebar.getByRole("heading", { name: "Running" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: /hello/ }).first().hover();
    await page
      .getByRole("button", { name: /Actions/ })
      .first()
      .click();
    await page.getByRole("menuitem", { name: /Tags/ }).click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("textbox").first();
    await field.fill("half a tag");
    await page.keyboard.press("Escape");
    await dialog.getByText("Your changes haven’t been saved.").waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByText("Your changes haven’t been saved.").waitFor({ state: "detached" });
    await hasValue(field, "half a tag");
    // Outside the dialog.
    await page.mouse.click(5, 5);
    await dialog.getByText("Your changes haven’t been saved.").waitFor();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await dialog.waitFor({ state: "detached" });
  });
});

test("a row of the sidebar in use is not moved while its run goes on and ends", async () => {
  await say("Give me the tour");
  await page.getByRole("region", { name: /publish_note/ }).waitFor();
  const sidebar = page.getByRole("navigation", { name: "Chats" });
  await sidebar.getByText("Running").waitFor();
  const menu = sidebar.getByRole("button", { name: /Actions/ }).first();
  await sidebar.getByRole("link", { name: /tour/ }).hover();
  await menu.click();
  await page.getByRole("menuitem", { name: /Tags/ }).click();
  const field = page.getByRole("dialog").getByRole("textbox").first();
  await field.fill("half a tag");
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.locator("[data-allow]").click();
  await other.getByRole("button", { name: "Regenerate" }).waitFor();
  await other.getByRole("navigation", { name: "Chats" }).getByText("Today").waitFor();
  await other.close();
  await page.getByRole("button", { name: "Regenerate", includeHidden: true }).waitFor();
  await hasValue(field, "half a tag");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
  await sidebar.getByText("Today").waitFor();
});

test("Enter that an input method takes sends nothing", async () => {
  await box().fill("にほん");
  for (const isComposing of [true, false]) {
    await box().evaluate((field, isComposing) => {
      const event = new KeyboardEvent("keydown", {
        key: "Enter",
        bubbles: true,
        cancelable: true,
        isComposing,
      });
      Object.defineProperty(event, "keyCode", { value: 229 });
      field.dispatchEvent(event);
    }, isComposing);
  }
  await hasValue(box(), "にほん");
  assert.equal(server.runs.size, 0);
});

test.describe("a file dropped", () => {
  test("anywhere in a chat goes along with the message", async () => {
    await say("hello");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    assert.deepEqual(await drop(page.getByRole("log")), [true, true]);
    await page.getByRole("img", { name: "dot.png" }).waitFor();
  });

  test("on another page goes nowhere", async () => {
    await page.goto("/settings/general");
    await page.getByRole("heading", { name: "General" }).first().waitFor();
    assert.deepEqual(await drop(page.locator("body")), [true, true]);
    assert.match(page.url(), /\/settings\/general$/);
    assert.equal(await page.getByText("dot.png").count(), 0);
  });
});

test.describe("a model that is away", () => {
  test("stays chosen, and nothing else is asked until another is", async () => {
    await page.getByRole("button", { name: /choose a model/ }).click();
    await page.getByRole("button", { name: "llama-3.3-70b" }).click();
    const all = server.models;
    server.models = all.filter(({ id }) => id !== "llama-3.3-70b");
    await page.reload();
    await page.getByText("llama-3.3-70b is no longer available to you.", { exact: false }).first().waitFor();
    await page.getByRole("button", { name: "llama-3.3-70b · unavailable: choose a model" }).waitFor();
    await say("who are you?");
    await hasValue(box(), "who are you?");
    assert.equal(server.runs.size, 0);
    // The model is available again: the message is sent to it.
    server.models = all;
    await page.keyboard.press("Enter");
    await page.getByText("llama-3.3-70b is no longer available to you.", { exact: false }).last().waitFor();
    await page.getByRole("button", { name: "llama-3.3-70b: choose a model" }).waitFor();
    await page.keyboard.press("Enter");
    await until("the run", () => server.runs.size === 1);
    assert.equal(run().model, "llama-3.3-70b");
  });

  test("is not exchanged for the tour where nobody has chosen one", async () => {
    await say("hello");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    assert.equal(run().model, "qwen3-30b");
    server.models = server.models.filter(({ tour }) => tour);
    server.defaultModel = "tour";
    await page.reload();
    await page.getByText("qwen3-30b is no longer available to you.", { exact: false }).first().waitFor();
    await say("and now?");
    await hasValue(box(), "and now?");
    assert.equal(server.runs.size, 1);
    assert.equal(await page.getByRole("button", { name: /^Use / }).count(), 0);
    await page.getByRole("button", { name: "Other models" }).click();
    await page.getByRole("button", { name: /^Tour/ }).click();
    await page.keyboard.press("Enter");
    await until("the run", () => server.runs.size === 2);
    assert.equal(run().model, "tour");
  });

  test("is exchanged for the new default only with consent", async () => {
    await say("hello");
    await page.getByRole("button", { name: "Regenerate" }).waitFor();
    server.models = server.models.filter(({ id }) => id !== "qwen3-30b");
    server.defaultModel = "llama-3.3-70b";
    await page.reload();
    await page.getByText("qwen3-30b is no longer available to you.", { exact: false }).first().waitFor();
    await say("and now?");
    await hasValue(box(), "and now?");
    assert.equal(server.runs.size, 1);
    await page.getByRole("button", { name: "Use llama-3.3-70b" }).click();
    await page.keyboard.press("Enter");
    await until("the run", () => server.runs.size === 2);
    assert.equal(run().model, "llama-3.3-70b");
  });
});

test.describe("a half-filled form", () => {
  test("is not lost by a click on a link, nor by the way back", async () => {
    await page.goto("/settings/general");
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByLabel("Name", { exact: true }).fill("backup script");
    await page.getByRole("link", { name: "General" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Your changes haven’t been saved.").waitFor();
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    await hasValue(page.getByLabel("Name", { exact: true }), "backup script");
    await page.goBack();
    await dialog.getByRole("button", { name: "Keep editing" }).click();
    assert.match(page.url(), /\/settings\/keys$/);
    await hasValue(page.getByLabel("Name", { exact: true }), "backup script");
    await page.getByRole("link", { name: "General" }).click();
    await dialog.getByRole("button", { name: "Discard" }).click();
    await page.waitForURL("**/settings/general");
  });

  test("is asked about before the page is closed", async () => {
    await page.goto("/settings/keys");
    await page.getByLabel("Name", { exact: true }).click();
    await page.keyboard.type("backup script");
    let asked = "";
    page.on("dialog", (dialog) => {
      asked = dialog.type();
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await until("the question", () => asked === "beforeunload");
    await hasValue(page.getByLabel("Name", { exact: true }), "backup script");
  });
});

test("pictures of a message stay with their chat while another is looked at", async () => {
  await say("hello");
  await page.getByRole("button", { name: "Regenerate" }).waitFor();
  const chat = page.url();
  const picture = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "base64",
  );
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: picture });
  await page.getByRole("img", { name: "dot.png" }).waitFor();
  await page.getByRole("button", { name: /New chat/ }).click();
  await page.getByRole("img", { name: "dot.png" }).waitFor({ state: "detached" });
  await page.goBack();
  await page.waitForURL(chat);
  await page.getByRole("img", { name: "dot.png" }).waitFor();
});
