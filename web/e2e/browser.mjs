/** Chromium for the tests: Debian's package, started without anything that would phone home. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chromium } from "@playwright/test";

const executablePath =
  process.env.CHROMIUM ?? execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();

export function launch(args = []) {
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
      ...args,
    ],
  });
}

/** Opens a page that collects all console errors, including CSP violations. */
export async function openPage(browser, { url, preferences = {}, ...options }) {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  await context.addInitScript((chosen) => {
    // The render frame for diagrams has no storage.
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
    // The browser's message does not include the URL.
    page.complaints.push(
      text.startsWith("Failed to load resource") ? `${text} ${message.location().url}` : text,
    );
  });
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.setDefaultTimeout(30_000);
  return page;
}

/** Polls until the result is truthy and returns it; same timeout as waiting for a page. */
export async function until(what, ask) {
  const last = Date.now() + 30_000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(Date.now() < last, `It did not come about: ${what}`);
    await new Promise((again) => setTimeout(again, 50));
  }
}

/** Waits until the field has this value. */
export const hasValue = (field, value) =>
  until(`the field has “${value}”`, async () => (await field.inputValue()) === value);

/** Presses a button that asks for confirmation; first cancels with Escape, then confirms with `verb`. */
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
 * Expands a fold unless it is expanded: the steps of a turn stay expanded if it ended while the reader had scrolled up.
 * The turn must be finished, so that only the test toggles the fold.
 */
export async function unfold(toggle) {
  await toggle.waitFor();
  // By keyboard: content still rendering above can move the fold between mouse down and up.
  if ((await toggle.getAttribute("aria-expanded")) !== "true") await toggle.press("Enter");
  await toggle.and(toggle.page().locator("[aria-expanded=true]")).waitFor();
}

/** Clicks a copy button, and returns the text once it is on the clipboard. */
export async function copiedBy(button) {
  const page = button.page();
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await button.click();
  return until("something was copied", () => page.evaluate(() => navigator.clipboard.readText()));
}
