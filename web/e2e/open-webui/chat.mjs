/** A person at Open WebUI: opens chats, writes, presses Stop, and sees what is there. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const PICTURES = new URL("../../../docs/pictures/", import.meta.url);

const WAIT_MS = 30_000;

/** A browser of its own for the administrator, in English and light. */
export async function openChats({ browser, openWebUi }) {
  // Without it the news of this version would cover the page.
  const { version } = await openWebUi.get("/api/config");
  await openWebUi.post("/api/v1/users/user/settings/update", { ui: { version } });
  const context = await browser.newContext({
    baseURL: openWebUi.url,
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    colorScheme: "light",
  });
  await context.addInitScript((token) => {
    localStorage.setItem("token", token);
    localStorage.setItem("theme", "light");
  }, openWebUi.token);
  return context;
}

/** A new chat with `model` in a page of its own. */
export async function newChat(context, model) {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`/?models=${encodeURIComponent(model)}`);
  const input = page.locator("#chat-input");
  await input.waitFor();
  // The list of models comes later than the input, and a message before it would be refused.
  await page
    .getByRole("button", { name: /Select a model|Selected model/ })
    .first()
    .waitFor();
  const messages = page.locator("#messages-container");
  return {
    page,
    /** All that stands in the chat. */
    text: () => messages.innerText(),
    /** Waits until such words stand in the chat. */
    async shows(words) {
      const found = messages.getByText(words).filter({ visible: true }).first();
      await found.waitFor().catch(async (error) => {
        // A snapshot also has what stands over the chat.
        throw new Error(`${error.message}\n${await page.locator("body").ariaSnapshot()}`);
      });
    },
    /** Waits until a picture of this width is there, and not the sign that it is missing; tells how many there are. */
    async showsPictures(width) {
      const whole = (images, width) =>
        images.filter((image) => image.complete && image.naturalWidth === width).length;
      await page.waitForFunction(
        (width) =>
          [...document.querySelectorAll("#messages-container img")].some(
            (image) => image.complete && image.naturalWidth === width,
          ),
        width,
      );
      return page.locator("#messages-container img").evaluateAll(whole, width);
    },
    async say(words) {
      await input.click();
      await page.keyboard.type(words);
      await page.keyboard.press("Enter");
    },
    stop: () => page.getByRole("button", { name: "Stop", exact: true }).click(),
    /** Waits until the answer is over: the buttons below it come then. */
    ends: () => messages.getByRole("button", { name: "Regenerate" }).last().waitFor(),
    async reload() {
      await page.reload();
      await input.waitFor();
    },
    close: () => page.close(),
  };
}

/** The last answer as Open WebUI has stored it. */
export async function stored(openWebUi, chat) {
  const id = new URL(chat.page.url()).pathname.split("/").pop();
  const found = await openWebUi.get(`/api/v1/chats/${id}`);
  const { messages, currentId } = found.chat.history;
  return { title: found.title, ...messages[currentId] };
}

/** A picture for the guide, where it is wanted: of the page, or of the part of it that has something to see. */
export async function picture(page, name, clip) {
  if (!process.env.OPEN_WEBUI_PICTURES) return;
  await page.mouse.move(1240, 640);
  // Dialogs come in slowly.
  await page.waitForTimeout(500);
  await page.screenshot({ path: fileURLToPath(new URL(`open-webui-${name}.png`, PICTURES)), clip });
}

/** The upper part, for a chat that has only begun. */
export const UPPER = { x: 0, y: 0, width: 1280, height: 330 };

/** Checks that every one of `words` stands in the text that `read` gives, in this order. */
export function inOrder(text, words) {
  let from = 0;
  for (const each of words) {
    const at = text.indexOf(each, from);
    assert.ok(
      at >= 0,
      `"${each}" comes after ${JSON.stringify(words.slice(0, words.indexOf(each)))} in: ${text}`,
    );
    from = at + each.length;
  }
}
