/** Automates the Open WebUI page as a user: opens chats, sends messages, presses Stop, and reads the page. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const PICTURES = new URL("../../../docs/pictures/", import.meta.url);

const WAIT_MS = 30_000;

/** A browser context for the administrator, with English and the light theme. */
export async function openChats({ browser, openWebUi }) {
  // Otherwise the release notes of this version would cover the page.
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

/** A new chat with `model` in its own page. */
export async function newChat(context, model) {
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`/?models=${encodeURIComponent(model)}`);
  const input = page.locator("#chat-input");
  await input.waitFor();
  // The list of models loads after the input, and an earlier message would be rejected.
  await page
    .getByRole("button", { name: /Select a model|Selected model/ })
    .first()
    .waitFor();
  const messages = page.locator("#messages-container");
  return {
    page,
    /** All text of the chat. */
    text: () => messages.innerText(),
    /** Waits until the text is visible in the chat. */
    async shows(words) {
      const found = messages.getByText(words).filter({ visible: true }).first();
      await found.waitFor().catch(async (error) => {
        // The snapshot also includes what covers the chat.
        throw new Error(`${error.message}\n${await page.locator("body").ariaSnapshot()}`);
      });
    },
    /** Waits until an image of this width has loaded, not the broken-image icon; returns how many there are. */
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
    /** Waits until the answer is complete: the buttons below it appear then. */
    ends: () => messages.getByRole("button", { name: "Regenerate" }).last().waitFor(),
    async reload() {
      await page.reload();
      await input.waitFor();
    },
    close: () => page.close(),
  };
}

/** The last answer as stored by Open WebUI. */
export async function stored(openWebUi, chat) {
  const id = new URL(chat.page.url()).pathname.split("/").pop();
  const found = await openWebUi.get(`/api/v1/chats/${id}`);
  const { messages, currentId } = found.chat.history;
  return { title: found.title, ...messages[currentId] };
}

/** Optional screenshot for the guide: of the page, or of a relevant part of it. */
export async function picture(page, name, clip) {
  if (!process.env.OPEN_WEBUI_PICTURES) return;
  await page.mouse.move(1240, 640);
  // Dialogs fade in slowly.
  await page.waitForTimeout(500);
  await page.screenshot({ path: fileURLToPath(new URL(`open-webui-${name}.png`, PICTURES)), clip });
}

/** The upper part, for a chat that has just begun. */
export const UPPER = { x: 0, y: 0, width: 1280, height: 330 };

/** Checks that all `words` occur in the text returned by `read`, in this order. */
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
