/** Schedules and notices of other chats with the real program: created, run now, noticed elsewhere, read. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "@playwright/test";
import { hasValue, launch, openPage } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  { contains: "Read the news", turns: [turn(pause(1500), text("Nothing new today."))] },
  { contains: "Break", turns: [{ steps: [pause(1500), { type: "cut" }] }] },
  { turns: [turn(text("Hello."))] },
];

let browser, glasshouse, model, page, listener;
/** Requests received by the webhook. */
const told = [];

test.beforeAll(async () => {
  const allow = { GLASSHOUSE_OUTBOUND_ALLOW: "localhost" };
  [browser, glasshouse, model] = await Promise.all([launch(), startGlasshouse(allow), startModel(CASES)]);
  listener = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    told.push({ signature: request.headers["webhook-signature"], ...JSON.parse(body) });
    response.end();
  });
  await new Promise((listening) => listener.listen(0, "127.0.0.1", listening));
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
  await page.getByRole("textbox", { name: "Message" }).fill("Hi");
  await page.keyboard.press("Enter");
  await page.getByText("Hello.").waitFor();
});
test.afterAll(async () => {
  await browser?.close();
  listener?.close();
  await Promise.all([glasshouse?.stop(), model?.stop()]);
});

const inList = (title) => page.getByRole("navigation", { name: "Chats" }).getByRole("link", { name: title });
const schedule = (name) => page.getByRole("main").getByRole("listitem").filter({ hasText: name });

async function make(name, prompt) {
  await page.getByRole("button", { name: "New schedule" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Prompt").fill(prompt);
  await page.getByLabel("When").selectOption("Monday to Friday");
  await page.getByLabel("At", { exact: true }).fill("07:30");
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.getByRole("button", { name: "Save" }).click();
  await schedule(name)
    .getByText(/Next: .*7:30.AM · Europe\/Berlin/)
    .waitFor();
}

test("a schedule is made and shows when it is due", async () => {
  await page.goto("/settings/schedules");
  await make("News", "Read the news");
  await page.getByRole("button", { name: "Edit “News”" }).click();
  await hasValue(page.getByLabel("When"), "weekdays");
  await hasValue(page.getByLabel("At", { exact: true }), "07:30");
  await page.getByLabel("Time zone").fill("Mars/Base");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Unknown time zone: “Mars/Base”.").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("its run is noticed in another chat, and marked until it is read", async () => {
  await schedule("News").getByRole("button", { name: "Run now" }).click();
  await page.getByText("Started “News”.").waitFor();
  await inList("Hi").click();
  await page.getByText("“News” is done.").waitFor();
  await inList(/News.*new/).waitFor();
  // The unread mark is stored on the server, so another device shows it.
  await page.reload();
  await inList(/News.*new/).waitFor();
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("link", { name: /News.*new/ }).click();
  await other.getByText("Nothing new today.").waitFor();
  await other.getByRole("link", { name: "Scheduled: “News”" }).waitFor();
  await inList(/^News$/).waitFor();
  await other.close();
});

test("an address is told when a run has ended", async () => {
  await page.goto("/settings/schedules");
  const url = `http://localhost:${listener.address().port}/hook`;
  const add = async (url) => {
    await page.getByLabel("URL").fill(url);
    await page.getByRole("button", { name: "Add" }).click();
  };
  await add("https://169.254.169.254/latest");
  await page.getByText("This address cannot be used.").waitFor();
  await add(url);
  await page.getByText(/^whsec_/).waitFor();
  const row = page.getByRole("main").getByRole("listitem").filter({ hasText: url });
  await row.getByText("Not called yet").waitFor();
  await row.getByRole("button", { name: "Send test" }).click();
  await page.getByText("Test delivered.").waitFor();
  await schedule("News").getByRole("button", { name: "Run now" }).click();
  await row.getByText(/^Delivered: /).waitFor();
  assert.deepEqual(
    told.map(({ type, data }) => [type, data.answer]),
    [
      ["test", undefined],
      ["run.finished", "Nothing new today."],
    ],
  );
  assert.match(told[1].signature, /^v1,/);
  await page.getByRole("button", { name: `Delete: ${url}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await row.waitFor({ state: "detached" });
});

test("one that fails says so, and opens its chat", async () => {
  await page.goto("/settings/schedules");
  await make("Trouble", "Break");
  await schedule("Trouble").getByRole("button", { name: "Run now" }).click();
  const toast = page.getByRole("alert").getByText("“Trouble” failed.");
  await toast.waitFor();
  await schedule("Trouble").getByRole("link", { name: "failed" }).waitFor();
  await toast.locator("..").getByRole("button", { name: "Open" }).click();
  await page.waitForURL("**/c/chat_*");
  await page.getByText("Break").first().waitFor();
});

test("turned off it has no next time; deleted it is gone", async () => {
  await page.goto("/settings/schedules");
  await schedule("Trouble").getByRole("switch").click();
  await schedule("Trouble").getByText("Off", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete: Trouble" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await schedule("Trouble").waitFor({ state: "detached" });
});

test("the browser's notifications are off until they are turned on, and come only in the background", async () => {
  // Headless Chromium has no notifications: the page's calls are recorded instead.
  await page.addInitScript(() => {
    window.told = [];
    window.Notification = {
      permission: "default",
      requestPermission: async () => (Notification.permission = "granted"),
    };
    ServiceWorkerRegistration.prototype.showNotification = async (title, { body }) => window.told.push(body);
  });
  const hide = (hidden) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const runAndHide = async () => {
    await page.goto("/settings/schedules");
    await schedule("News").getByRole("button", { name: "Run now" }).click();
    await page.getByText("Started “News”.").waitFor();
    await hide(true);
    await schedule("News").getByRole("link", { name: "started" }).waitFor();
    await schedule("News").getByRole("link", { name: "done" }).first().waitFor();
    await schedule("News").getByRole("link", { name: "started" }).waitFor({ state: "detached" });
    return page.evaluate(() => window.told);
  };
  await page.reload();
  assert.deepEqual(await runAndHide(), []);
  await page.goto("/settings/notifications");
  const notifications = page.getByRole("switch", { name: /^Browser notifications/ });
  assert.equal(await notifications.isChecked(), false);
  await notifications.click();
  await page.waitForFunction(() => Notification.permission === "granted");
  assert.equal(await notifications.isChecked(), true);
  await page.addInitScript(() => (window.Notification.permission = "granted"));
  assert.deepEqual(await runAndHide(), ["“News” is done."]);
});

test("nothing was complained about", () => {
  // The window of a test is as private as one in incognito mode, which has no push notifications.
  const expected = /400 \(Bad Request\)|does not support the Push API in incognito mode/;
  const complaints = page.complaints.filter((words) => !expected.test(words));
  assert.deepEqual(complaints, []);
});
