/** Agents with the real program: defined and tried in the settings, selected in a chat, deleted; and skills. */
import assert from "node:assert/strict";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { hasValue, launch, openPage, until } from "./browser.mjs";
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
const field = (name) => form().getByLabel(name, { exact: true });
/** A list of the form, and what it offers. */
const list = (name) => form().getByRole("group", { name, exact: true });
const pick = (name) =>
  list(name)
    .getByRole("radio", { name: /^Selected/ })
    .check({ force: true });
const stored = async (name) => {
  const { agents } = await (await page.request.get("/api/v1/agents")).json();
  return agents.find((agent) => agent.name === name);
};

async function picture(name, of = page) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await of.screenshot({ path: `${folder}/agents-${name}.png` });
}

test("an agent needs a name and instructions; its ID follows the name", async () => {
  await setUp(page);
  await page.request.post(`${glasshouse.url}/api/v1/connections`, {
    data: { name: "Scripted", base_url: model.url },
    headers: { origin: glasshouse.url },
  });
  await page.goto("/settings/agents");
  await page.getByText("No custom agents yet").waitFor();
  await page.getByRole("button", { name: "New agent" }).click();
  await picture("empty");
  await field("Name").fill("Général poet");
  await form().getByText("ID: general-poet").waitFor();
  await field("Name").fill("Poet");
  await field("Instructions").fill("You write poems. Keep them short.");
  await form().getByText("More", { exact: true }).click();
  assert.equal(await field("Description").getAttribute("placeholder"), "You write poems.");
});

test("tools are chosen in groups, and by names that are not listed", async () => {
  await pick("Tools");
  await list("Tools")
    .getByRole("button", { name: /^Show Files/ })
    .click();
  await list("Tools").getByRole("checkbox", { name: "Write files" }).check();
  await list("Tools").getByRole("checkbox", { name: "Web", exact: true }).check();
  await list("Tools").getByText("Selected (3)").waitFor();
  const filter = list("Tools").getByRole("textbox", { name: "Tools: filter" });
  await filter.fill("pages");
  await list("Tools").getByRole("checkbox", { name: "Read web pages" }).uncheck();
  await filter.fill("memory_*");
  await list("Tools").getByRole("button", { name: "Add “memory_*”" }).click();
  await list("Tools").getByText("Everything that begins with “memory_”").waitFor();
  assert.equal(await list("Tools").getByRole("checkbox", { name: "Save memories" }).count(), 0);
  await list("Tools")
    .getByRole("button", { name: /^Show Memory/ })
    .click();
  const covered = list("Tools").getByRole("checkbox", { name: "Save memories" });
  assert.deepEqual([await covered.isChecked(), await covered.isDisabled()], [true, true]);
  await filter.fill("telepathy");
  await filter.press("Enter");
  await list("Tools").getByText("Not available now").waitFor();
  await pick("Skills");
  await list("Skills")
    .getByRole("checkbox", { name: /letters/ })
    .check();
  await check(page, "the form of an agent");
  await picture("form");
});

test("a reload and other pages keep what was written", async () => {
  await page.reload();
  await form().getByText("Your unsaved changes were restored.").waitFor();
  await hasValue(field("Instructions"), "You write poems. Keep them short.");
  await list("Tools").getByText("Selected (4)").waitFor();
  await page.getByRole("link", { name: "API keys" }).click();
  await page.waitForURL("**/settings/keys");
  await page.goBack();
  await hasValue(field("Name"), "Poet");
  await field("Name").press("Escape");
  await form().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Continue new agent" }).click();
  await hasValue(field("Name"), "Poet");
});

test("what is wrong is said at its field", async () => {
  await form().getByText(/^More/).click();
  await field("Model calls").fill("0");
  await form().getByText("“0” isn’t valid. Enter a number above 0.").waitFor();
  assert.equal(await form().getByRole("button", { name: "Save", exact: true }).isDisabled(), true);
  await field("Model calls").fill("20");
  await form().getByRole("button", { name: "Change ID" }).click();
  await field("ID").fill("Poet!");
  await form().getByRole("button", { name: "Save", exact: true }).click();
  await form().getByText("Use up to 40 lowercase letters").waitFor();
  assert.equal(await field("ID").getAttribute("aria-invalid"), "true");
  await until("the field has the focus", () => field("ID").evaluate((it) => it === document.activeElement));
  assert.equal(await page.locator(".toast").count(), 0);
  await picture("problem");
  await field("ID").fill("research");
  await form().getByRole("button", { name: "Save", exact: true }).click();
  await form().getByText("“research” is reserved.").waitFor();
  await field("ID").fill("poet");
  await form().getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Tools not available: “telepathy”.").waitFor();
  const { description, tools, skills, limits } = await stored("poet");
  assert.deepEqual(
    { description, tools, skills, limits },
    {
      description: "You write poems.",
      tools: ["write_file", "web_search", "memory_*", "telepathy"],
      skills: ["letters"],
      limits: { steps: 20 },
    },
  );
});

test("skills are shown, and why one is none", async () => {
  await page.getByText("How our letters look.").waitFor();
  await page.getByText("1 more file").waitFor();
  await page.getByText("File not found: SKILL.md.").waitFor();
});

test("it is edited and keeps the rest", async () => {
  await page.getByRole("button", { name: "Edit poet" }).click();
  await form().getByText("More · set: Description, Skills, Limits").click();
  await hasValue(field("Model calls"), "20");
  await list("Tools")
    .getByRole("checkbox", { name: /telepathy/ })
    .uncheck();
  await form().getByRole("button", { name: "Cancel" }).click();
  const asked = page.getByRole("dialog");
  await asked.getByText("Your changes haven’t been saved.").waitFor();
  await asked.getByRole("button", { name: "Keep editing" }).click();
  await form().getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "Edit poet" }).waitFor();
  await page.getByText("telepathy").waitFor({ state: "detached" });
  assert.deepEqual((await stored("poet")).tools, ["write_file", "web_search", "memory_*"]);
});

test("it is tried in a chat, changed, and left for the model before", async () => {
  await page.getByRole("button", { name: "Edit poet" }).click();
  await field("Instructions").fill("You write poems about flowers.");
  await form().getByRole("button", { name: "Save and try" }).click();
  await page.getByRole("button", { name: "poet: choose a model" }).waitFor();
  await page.getByText("You’re trying poet.").waitFor();
  await picture("trial");
  await page.getByRole("link", { name: "Edit agent" }).click();
  await hasValue(field("Instructions"), "You write poems about flowers.");
  assert.equal(new URL(page.url()).search, "");
  await form().getByRole("button", { name: "Save and try" }).click();
  await page.getByRole("button", { name: "Stop trying poet" }).click();
  await page.getByText("You’re trying poet.").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "scripted: choose a model" }).waitFor();
});

test("it is chosen like a model and answers", async () => {
  await page.goto("/");
  await picker().click();
  await page.getByRole("button", { name: /^Poet/ }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("A poem.");
  await page.keyboard.press("Enter");
  await page.getByText("A rose is a rose.").waitFor();
  await page.getByRole("button", { name: "Regenerate" }).waitFor();
  await page.locator("article.assistant").getByText("Poet", { exact: true }).waitFor();
});

test("deleted by somebody else, the chat keeps the choice, says so and goes on with another", async () => {
  await page.request.delete(`${glasshouse.url}/api/v1/agents/poet`, { headers: { origin: glasshouse.url } });
  await page.getByRole("textbox", { name: "Message" }).fill("Another one.");
  await page.keyboard.press("Enter");
  const sentence = "poet is no longer available to you. Choose another model.";
  await page.getByRole("alert").getByText(sentence).waitFor();
  await page.getByRole("status").getByText(sentence).waitFor();
  assert.match(await picker().innerText(), /poet · unavailable/);
  await picker().click();
  await page.getByRole("button", { name: /^scripted/ }).click();
  await page.getByRole("textbox", { name: "Message" }).fill("Another one.");
  await page.keyboard.press("Enter");
  await page.getByText("A rose is a rose.").nth(1).waitFor();
});
