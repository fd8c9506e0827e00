/** Sign-in to MCP servers with the real program: on the server's own page, with a token, rejected, and sign-out. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { isAsked, launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startNotes } from "./notes.mjs";
import { calls, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [
  { contains: "notes", turns: [turn(calls(["notes__read", {}])), turn(text("Milk, it says."))] },
];

let browser, folder, glasshouse, model, notes, page;

test.beforeAll(async () => {
  notes = await startNotes();
  folder = await mkdtemp(join(tmpdir(), "glasshouse-sign-ins-"));
  const config = join(folder, "glasshouse.toml");
  const server = (name, how) =>
    `[[mcp_servers]]\nname = "${name}"\nurl = "${notes.url}"\nsign_in = "${how}"\n`;
  await writeFile(config, server("notes", "oauth") + server("tickets", "user_token"));
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse({ GLASSHOUSE_CONFIG: config }),
    startModel(CASES),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop(), notes?.stop(), rm(folder, { recursive: true })]);
});

const card = (name) => page.getByRole("main").getByRole("listitem").filter({ hasText: name }).first();
const picture = async (name) => {
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
};

test("a person who is not let in is told so", async () => {
  await setUp(page);
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Scripted", base_url: model.url },
    headers: { origin: glasshouse.url },
  });
  await page.goto("/settings/sign-ins");
  await card("notes").getByText("not signed in").waitFor();
  await picture("signed-out");
  await page.getByRole("button", { name: "Sign in to notes" }).click();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("The server denied access").waitFor();
  // The provider sent them back to an earlier address of this part.
  await page.getByRole("heading", { name: "Tool permissions and sign-ins" }).waitFor();
  assert.equal(new URL(page.url()).search, "", "how it ended does not stay in the address");
});

test("they sign in at the server's own page, and their agent reads their notes", async () => {
  await page.getByRole("button", { name: "Sign in to notes" }).click();
  await page.getByLabel("Who are you?").fill("Ada");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("You’re signed in.").waitFor();
  await card("notes").getByText("1 tool").waitFor();
  await card("notes").getByText("Show tools").click();
  await page.getByText("Reads the notes of Ada.").waitFor();
  await picture("signed-in");
  await page.goto("/");
  await page.getByRole("textbox", { name: /message/i }).fill("What do my notes say?");
  await page.keyboard.press("Enter");
  await page.getByText("Milk, it says.").waitFor();
});

test("what the server forgets is told, in the run and in the settings", async () => {
  notes.forget();
  await page.getByRole("textbox", { name: /message/i }).fill("And my notes now?");
  await page.keyboard.press("Enter");
  await page.getByText("Milk, it says.").nth(1).waitFor();
  await page.goto("/settings/sign-ins");
  await card("notes").getByText("sign-in expired").waitFor();
  await picture("lapsed");
});

test("a token is entered, kept out of sight, and forgotten", async () => {
  const field = page.getByLabel("Your token for tickets");
  assert.equal(await field.getAttribute("type"), "password");
  await field.fill("a-token-of-hers");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Sign out of tickets" }).waitFor();
  assert.equal((await page.content()).includes("a-token-of-hers"), false);
  await isAsked(page.getByRole("button", { name: "Sign out of tickets" }), "Sign out of tickets");
  await field.waitFor();
  assert.deepEqual(page.complaints, []);
});
