/**
 * MCP servers in the settings, with the real program and a second one as the MCP server: add, test, change, switch off
 * and remove, and the next answer uses a tool.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { callApi, connectModel, setUp } from "./people.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  { contains: "Result of the page", turns: [turn(text("Read."))] },
  {
    contains: "Read the page",
    turns: [
      turn(calls(["far__fetch_page", { url: "http://127.0.0.1:9/" }])),
      turn(text("I tried to read it.")),
    ],
  },
  { turns: [turn(text("Hello."))] },
];

let browser, model, glasshouse, other, key, page;

test.beforeAll(async () => {
  [browser, model, glasshouse, other] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse(),
    startGlasshouse(),
  ]);
  const there = await openPage(browser, { url: other.url });
  await setUp(there);
  key = (await callApi(there, other.url, "post", "/keys", { name: "mcp" })).secret;
  await there.context().close();
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), other?.stop(), model?.stop()]);
});

const dialog = () => page.getByRole("dialog");
const button = (name) => dialog().getByRole("button", { name, exact: true });
const card = () =>
  page.getByRole("list", { name: "MCP servers" }).getByRole("listitem").filter({ hasText: "far" });

async function picture(name) {
  if (process.env.E2E_PICTURES)
    await page.screenshot({ path: `${process.env.E2E_PICTURES}/mcp-${name}.png` });
}

test("a server is added with four fields", async () => {
  await page.goto("/settings/tools");
  await page.getByText("No MCP servers yet.").waitFor();
  await page.getByRole("button", { name: "Add server" }).click();
  await dialog().getByLabel("URL").fill(`${other.url}/mcp`);
  assert.equal(await dialog().getByLabel("Name", { exact: true }).inputValue(), "127-0-0-1");
  await dialog().getByLabel("Name", { exact: true }).fill("a b");
  await dialog().getByLabel("Authentication").selectOption("API key or token");
  assert.ok(await button("Add server").isDisabled());
  await dialog().getByLabel("API key or token").fill("wrong");
  await button("Test").click();
  await dialog().getByRole("alert").getByText("sign-in").waitFor();
  await dialog().getByLabel("API key or token").fill(key);
  await button("Test").click();
  await dialog().getByText("It works: 2 tools.").waitFor();
  await check(page, "the form of an MCP server");
  await picture("form");
  // The name is refused at its field, and nothing that was typed is lost.
  await button("Add server").click();
  await dialog().getByText("The name must be").waitFor();
  assert.equal(await dialog().getByLabel("Name", { exact: true }).getAttribute("aria-invalid"), "true");
  await dialog().getByLabel("Name", { exact: true }).fill("far");
  await button("Add server").click();
  await dialog().waitFor({ state: "detached" });
  await card().getByText("connected", { exact: true }).waitFor();
  await card().getByText("2 tools").waitFor();
  await check(page, "the list of MCP servers");
  await picture("list");
});

test("Escape does not throw away what was typed", async () => {
  await page.getByRole("button", { name: "Add server" }).click();
  await dialog().getByLabel("URL").fill("https://tickets.example.org/mcp");
  assert.equal(await dialog().getByLabel("Name", { exact: true }).inputValue(), "tickets");
  await page.keyboard.press("Escape");
  await button("Keep editing").click();
  assert.equal(await dialog().getByLabel("URL").inputValue(), "https://tickets.example.org/mcp");
  await page.keyboard.press("Escape");
  await button("Discard").click();
  await dialog().waitFor({ state: "detached" });
});

test("its settings are changed without entering the token again", async () => {
  await card().getByRole("button", { name: "Edit" }).click();
  assert.equal(await dialog().getByLabel("API key or token").getAttribute("placeholder"), "Unchanged");
  assert.ok(await button("Save").isDisabled());
  await dialog().getByText("More options").click();
  await dialog().getByLabel("Allowed tools").fill("fetch_page");
  await dialog().getByLabel("Approval").selectOption("Ask before every tool");
  await button("Test").click();
  await dialog().getByText("It works: 1 tool.").waitFor();
  await picture("more");
  await button("Save").click();
  await dialog().waitFor({ state: "detached" });
  await card().getByText("1 tool", { exact: false }).waitFor();
  await card().getByText("Show tools").click();
  await card().getByText("needs approval").waitFor();
  // Secrets are not sent to another host.
  await card().getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("URL").fill("http://localhost:9/mcp");
  await button("Save").click();
  await dialog().getByRole("alert").getByText("not sent to another host").waitFor();
  await dialog().getByRole("button", { name: "Close" }).click();
  if (await button("Discard").isVisible()) await button("Discard").click();
});

test("the next answer uses its tool, once a person allows it", async () => {
  await page.goto("/");
  await page.getByRole("textbox", { name: "Message" }).fill("Read the page");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Allow", exact: false }).first().click();
  await page.getByText("I tried to read it.").waitFor();
});

test("it is switched off and on, and removed", async () => {
  await page.goto("/settings/tools");
  await card().getByRole("button", { name: "Turn off" }).click();
  await card().getByText("off", { exact: true }).waitFor();
  await card().getByRole("button", { name: "Turn on" }).click();
  await card().getByText("connected", { exact: true }).waitFor();
  await card().getByRole("button", { name: "Remove" }).click();
  await button("Remove far").click();
  await page.getByText("No MCP servers yet.").waitFor();
  const { servers } = await callApi(page, glasshouse.url, "get", "/mcp-servers");
  assert.deepEqual(servers, []);
});

test("on a phone in Russian", async () => {
  await callApi(page, glasshouse.url, "post", "/mcp-servers", {
    name: "far",
    url: `${other.url}/mcp`,
    headers: { Authorization: `Bearer ${key}` },
  });
  const phone = await openPage(browser, {
    url: glasshouse.url,
    preferences: { theme: "dark", language: "ru" },
    viewport: { width: 360, height: 740 },
    hasTouch: true,
  });
  await phone.context().addCookies(await page.context().cookies());
  await phone.goto("/settings/tools");
  await phone.getByText("подключён", { exact: true }).waitFor();
  if (process.env.E2E_PICTURES) await phone.screenshot({ path: `${process.env.E2E_PICTURES}/mcp-phone.png` });
  await phone.getByRole("button", { name: "Изменить" }).click();
  await phone.getByText("Дополнительно").click();
  await phone.getByRole("button", { name: "Добавить заголовок" }).click();
  await check(phone, "the form of an MCP server on a phone");
  if (process.env.E2E_PICTURES)
    await phone.screenshot({ path: `${process.env.E2E_PICTURES}/mcp-phone-form.png` });
  const excess = await until("the form fits", () =>
    phone.evaluate(() => {
      const dialog = document.querySelector("dialog");
      return dialog.scrollWidth <= dialog.clientWidth && "fits";
    }),
  );
  assert.equal(excess, "fits");
  await phone.context().close();
});
