/** Agents with the real program: defined in the settings, selected in a chat, deleted; and skills. */
import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { hasValue, launch, openPage } from "./browser.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const CASES = [{ turns: [turn(text("A rose is a rose."))] }];

let browser, glasshouse, model, page, skills;

test.beforeAll(async () => {
  skills = await mkdtemp(join(tmpdir(), "glasshouse-skills-"));
  await mkdir(join(skills, "letters"));
  const skill = "---\nname: letters\ndescription: How our letters look.\n---\nBegin with the place.";
  await writeFile(join(skills, "letters", "SKILL.md"), skill);
  await writeFile(join(skills, "letters", "form.txt"), "Dear Sir");
  await mkdir(join(skills, "broken"));
  [browser, glasshouse, model] = await Promise.all([
    launch(),
    startGlasshouse({ GLASSHOUSE_SKILLS_FOLDER: skills }),
    startModel(CASES),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
});
test.afterAll(async () => {
  await browser?.close();
  await Promise.all([glasshouse?.stop(), model?.stop(), rm(skills, { recursive: true })]);
});

const picker = () => page.getByRole("button", { name: /choose a model/ });
const form = () => page.getByRole("form");

test("the administrator defines an agent; what is wrong is said", async () => {
  await setUp(page);
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Scripted", base_url: model.url },
    headers: { origin: glasshouse.url },
  });
  await page.goto("/settings/agents");
  await page.getByText("No custom agents yet").waitFor();
  await page.getByRole("button", { name: "New agent" }).click();
  await form().getByLabel("Name", { exact: true }).fill("General");
  await form().getByLabel("Description").fill("Writes poems about flowers.");
  await form().getByLabel("Instructions").fill("You write poems. Keep them short.");
  await form().getByRole("combobox", { name: "Tools" }).selectOption("only");
  await form().getByRole("button", { name: "write_file" }).click();
  await form().getByRole("button", { name: "read_file" }).click();
  await form().getByRole("button", { name: "read_file" }).click();
  await hasValue(form().getByLabel("Tools: only these"), "write_file");
  await form().getByLabel("Tools: only these").fill("write_file, telepathy");
  await form().getByLabel("Model calls").fill("0");
  await form().getByText("“0” isn’t valid. Enter a number above 0.").waitFor();
  assert.equal(await form().getByRole("button", { name: "Save" }).isDisabled(), true);
  await form().getByLabel("Model calls").fill("20");
  await form().getByRole("button", { name: "Save" }).click();
  await page.getByText("`name` must be").waitFor();
  await form().getByLabel("Name", { exact: true }).fill("poet");
  await form().getByRole("button", { name: "Save" }).click();
  await page.getByText("There is no tool “telepathy” now.").waitFor();
});

test("skills are shown, and why one is none", async () => {
  await page.getByText("How our letters look.").waitFor();
  await page.getByText("1 more file").waitFor();
  await page.getByText("File not found: SKILL.md.").waitFor();
});

test("it is edited and keeps the rest", async () => {
  await page.getByRole("button", { name: "Edit poet" }).click();
  await hasValue(form().getByLabel("Model calls"), "20");
  await form().getByLabel("Tools: only these").fill("write_file");
  await form().getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Edit poet" }).waitFor();
  await page.getByText("telepathy").waitFor({ state: "detached" });
});

test("it is chosen like a model and answers", async () => {
  await page.goto("/");
  await picker().click();
  await page.getByRole("button", { name: /poet/ }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("A poem.");
  await page.keyboard.press("Enter");
  await page.getByText("A rose is a rose.").waitFor();
  await page.getByRole("button", { name: "Regenerate" }).waitFor();
  await page.locator("article.assistant").getByText("poet", { exact: true }).waitFor();
});

test("deleted by somebody else, the chat keeps the choice, says so and goes on with another", async () => {
  await page.request.delete(`${glasshouse.url}/api/v1/agents/poet`, { headers: { origin: glasshouse.url } });
  await page.getByRole("textbox", { name: "Message" }).fill("Another one.");
  await page.keyboard.press("Enter");
  await page.getByText("Agent not found: “poet”").waitFor();
  await page.getByText("poet is unavailable.", { exact: false }).first().waitFor();
  assert.match(await picker().innerText(), /poet · unavailable/);
  await picker().click();
  await page.getByRole("button", { name: /^scripted/ }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Another one.");
  await page.keyboard.press("Enter");
  await page.getByText("A rose is a rose.").nth(1).waitFor();
});
