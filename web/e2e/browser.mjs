/** Chromium for the tests: Debian's own, started without anything that would call home. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chromium } from "@playwright/test";

const executablePath =
  process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();

export function launch() {
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** A page that collects everything it complains about, broken policy included. */
export async function openPage(browser, { url, preferences = {}, ...options }) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  await context.addInitScript((chosen) => {
    // The frame in which diagrams are drawn has no storage.
    if (globalThis.origin === "null") return;
    if (localStorage.getItem("glasshouse.preferences") === null) {
      localStorage.setItem("glasshouse.preferences", JSON.stringify(chosen));
    }
  }, preferences);
  const page = await context.newPage();
  page.complaints = [];
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    const text = message.text();
    // Which one is not in the words of the browser.
    page.complaints.push(
      text.startsWith("Failed to load resource") ? `${text} ${message.location().url}` : text,
    );
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.setDefaultTimeout(30_000);
  return page;
}

/** Asks again and again, as long as a page would be waited for; gives the answer that holds. */
export async function until(what, ask) {
  const last = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(Date.now() < last, `It did not come about: ${what}`);
    await new Promise((again) => setTimeout(again, 50));
  }
}

/** The field has this value, or comes to have it. */
export const hasValue = (field, value) =>
  until(`the field has “${value}”`, async () => (await field.inputValue()) === value);

/** Presses what asks before it does something; with Escape nothing is done, with `verb` it is. */
export async function isAsked(button, verb, key = "Enter") {
  const question = button.page().getByRole("dialog", { name: verb, exact: true });
  await button.press(key);
  await question.waitFor();
  await button.page().keyboard.press("Escape");
  await question.waitFor({ state: "detached" });
  await button.press(key);
  await question.getByRole("button", { name: verb, exact: true }).press("Enter");
  await question.waitFor({ state: "detached" });
}

/**
 * Opens a fold unless it is open: the steps of a turn that ended while the reader had scrolled up stay open.
 * The turn has to be finished, so that nobody but the test moves the fold.
 */
export async function unfold(toggle) {
  await toggle.waitFor();
  // By key: what is still being drawn above can move the fold away between a mouse button's down and up.
  if ((await toggle.getAttribute("aria-expanded")) !== "true") await toggle.press("Enter");
  await toggle.and(toggle.page().locator("[aria-expanded=true]")).waitFor();
}

/** Clicks a button that copies, and returns the text once it is on the clipboard. */
export async function copiedBy(button) {
  const page = button.page();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await button.click();
  return until("something was copied", () => page.evaluate(() => navigator.clipboard.readText()));
}
