/** Server errors on a page in Russian: at sign-in, below a form field, in a toast, and for a missing collection. */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage } from "./browser.mjs";
import { ada, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, glasshouse, page;

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  const first = await openPage(browser, { url: glasshouse.url });
  await setUp(first);
  await first.context().close();
  page = await openPage(browser, { url: glasshouse.url, preferences: { language: "ru" } });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
});

async function pictures(name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  await page.screenshot({ path: `${folder}/refusals-${name}.png` });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: `${folder}/refusals-${name}-phone-dark.png` });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

const toast = (words) => page.locator("[role=alert], [role=status]").getByText(words).first().waitFor();

test("at the door", async () => {
  await page.goto("/login");
  await page.getByLabel("Эл. почта").fill(ada.email);
  await page.getByLabel("Пароль").fill("not the password");
  await page.getByRole("button", { name: "Войти", exact: true }).click();
  await page.getByText("Почта или пароль неверны.").waitFor();
  await pictures("door");
  await check(page, "a wrong password in Russian");
  await page.getByLabel("Пароль").fill(ada.password);
  await page.getByRole("button", { name: "Войти", exact: true }).click();
  await page.locator("#composer").waitFor();
});

test("under a field of a form", async () => {
  const made = await page.request.post("/api/v1/knowledge", { data: { name: "Море" } });
  assert.ok(made.ok(), await made.text());
  await page.goto(`/knowledge/${(await made.json()).id}`);
  await page.getByRole("button", { name: "Действия с «Море»" }).click();
  await page.getByRole("menuitem", { name: "Доступ" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Адрес почты").fill("nobody@example.org");
  await page.keyboard.press("Enter");
  await dialog.getByText("Учётной записи с такой почтой здесь нет.").waitFor();
  await pictures("field");
  await dialog.getByLabel("Адрес почты").fill(ada.email);
  await page.keyboard.press("Enter");
  await dialog.getByText("Это адрес владельца.").waitFor();
  await check(page, "the fields of a form in Russian");
});

test("in what comes up, with what it is made of", async () => {
  await page.goto("/settings/schedules");
  await page.getByLabel("URL", { exact: true }).fill("https://127.0.0.1/hook");
  await page.getByRole("button", { name: "Добавить", exact: true }).click();
  await toast(/^Туда ничего нельзя отправить\. Адрес ведёт на эту машину, в частную сеть/);
  await pictures("toast");
  await check(page, "what comes up in Russian");
});

test("the server says all of it by code, with the English beside", async () => {
  const refused = async (method, path, data) => {
    const answer = await page.request.fetch(path, { method, data });
    return (await answer.json()).error;
  };
  const gone = await refused("POST", "/runs/run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d/cancel");
  assert.deepEqual(
    [gone.message, gone.sentence],
    ["Run not found, or it is not yours.", { code: "no_such_run" }],
  );
  const short = await refused("POST", "/api/v1/knowledge/search", { query: "sea", limit: 1000 });
  assert.equal(short.field, "limit");
  assert.deepEqual(short.sentence, {
    code: "out_of_range",
    params: { field: "limit", least: 1, most: short.sentence.params.most },
  });
});

test("where nothing is", async () => {
  await page.goto("/knowledge/col_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d");
  await page.getByText("Такой коллекции").first().waitFor();
  await pictures("missing");
  const shown = await page.locator("main").innerText();
  assert.ok(!/there is|not/i.test(shown), shown);
});

test("nothing complained", () => {
  const expected = /status of 40[0-9]/;
  assert.deepEqual(
    page.complaints.filter((complaint) => !expected.test(complaint)),
    [],
  );
});
