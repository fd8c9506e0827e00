/**
 * A collection's knowledge graph with the real program: built by a model, drawn, searched, explored, linked to its
 * quotes.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const people = [
  ["Ada Lovelace", "Charles Babbage", "worked with"],
  ["Ada Lovelace", "Augustus De Morgan", "was taught by"],
  ["Charles Babbage", "John Herschel", "was a friend of"],
  ["John Herschel", "Cape Town", "observed the sky from"],
  ["Charles Babbage", "Analytical Engine", "designed"],
  ["Ada Lovelace", "Analytical Engine", "wrote notes on"],
];
const places = { "Cape Town": "place", "Analytical Engine": "product" };
const sentence = ([source, target, kind]) => `${source} ${kind} ${target}.`;
const document = `# People\n\n${people.map(sentence).join(" ")}\n`;
const names = [...new Set(people.flatMap(([source, target]) => [source, target]))];
const answer = {
  entities: names.map((name) => ({
    name,
    kind: places[name] ?? "person",
    quote: sentence(people.find((one) => one.includes(name))),
  })),
  relations: [
    ...people.map((one) => ({ source: one[0], relation: one[2], target: one[1], quote: sentence(one) })),
    {
      source: "Ada Lovelace",
      relation: "hated",
      target: "Cape Town",
      quote: "Ada Lovelace hated Cape Town.",
    },
  ],
};
/** Two names of one entity. */
const engine = "The Difference Engine Society (DES) met Charles Babbage. DES wrote notes.";
const twice = {
  entities: [
    {
      name: "Difference Engine Society",
      kind: "organization",
      quote: "The Difference Engine Society (DES) met",
    },
    { name: "DES", kind: "organization", quote: "DES wrote notes" },
    { name: "Charles Babbage", kind: "person", quote: "met Charles Babbage" },
    { name: "Notes", kind: "document", quote: "wrote notes" },
  ],
  relations: [
    {
      source: "Difference Engine Society",
      relation: "met",
      target: "Charles Babbage",
      quote: "The Difference Engine Society (DES) met Charles Babbage.",
    },
    { source: "DES", relation: "wrote", target: "Notes", quote: "DES wrote notes." },
  ],
};
const CASES = [
  { contains: "Difference Engine Society", turns: [turn(text(JSON.stringify(twice)))] },
  { contains: "Jabberwocky", turns: [turn(text("I cannot read this."))] },
  { contains: "<document title=", turns: [turn(text(JSON.stringify(answer)))] },
];

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse({
      GLASSHOUSE_KNOWLEDGE_GRAPH_MODEL: "scripted",
      // Nothing listens there: everything below works without a graph database.
      GLASSHOUSE_KNOWLEDGE_GRAPH_URL: "bolt://127.0.0.1:1",
    }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
  const made = await (await page.request.post("/api/v1/knowledge", { data: { name: "History" } })).json();
  const put = await page.request.post(`/api/v1/knowledge/${made.id}/documents?name=people.md`, {
    data: Buffer.from(document),
  });
  assert.ok(put.ok(), await put.text());
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/graph-${name}.png`, fullPage: true });
}
const drawing = () => page.getByRole("group", { name: /^Graph diagram/ });

test("its owner has it built, and only what the documents say is in it", async () => {
  await page.goto("/knowledge");
  await page.getByRole("link", { name: "History" }).click();
  await page.getByRole("link", { name: "Graph" }).click();
  await picture("off");
  await check(page, "a graph that is off");
  await page.getByRole("button", { name: "Build the graph" }).click();
  await page.getByText("1 of 1 documents processed").waitFor();
  await drawing().getByRole("link", { name: "Ada Lovelace" }).waitFor();
  assert.equal(await drawing().getByRole("link").count(), names.length);
  assert.equal(await page.getByText("hated").count(), 0, "nothing proves it");
  await page.getByText("The graph database cannot be used: it cannot be reached.").waitFor();
  await check(page, "a graph");
  await picture("all");
});

test("one walks along it, by the drawing and by the list, and back", async () => {
  await page.getByLabel("Find people, places, things").fill("hersch");
  await page.getByRole("list", { name: "Results" }).getByRole("link", { name: "John Herschel" }).click();
  await page.getByRole("heading", { name: "John Herschel" }).waitFor();
  await drawing().getByRole("link", { name: "Cape Town" }).waitFor();
  await until("itself and what belongs to it", async () => (await drawing().getByRole("link").count()) === 3);
  await drawing().getByRole("link", { name: "Charles Babbage" }).click();
  await page.getByRole("heading", { name: "Charles Babbage" }).waitFor();
  await drawing().getByRole("link", { name: "Analytical Engine" }).waitFor();
  await picture("one");
  await check(page, "one thing of a graph");
  await page.goBack();
  await page.getByRole("heading", { name: "John Herschel" }).waitFor();
});

test("it finds the way from one to another", async () => {
  await page.getByLabel("Path to…").fill("morgan");
  await page.getByRole("button", { name: "Find path" }).click();
  await page.getByRole("heading", { name: "Path" }).waitFor();
  assert.equal(await drawing().getByRole("link").count(), 4);
  await picture("way");
  await page.getByLabel("Path to…").fill("nobody");
  await page.getByRole("button", { name: "Find path" }).click();
  await page.getByText("No path within six steps").waitFor();
});

test("each statement leads to the words that prove it", async () => {
  await page.getByRole("link", { name: "people.md" }).first().click();
  const mark = page.locator("mark").first();
  await mark.waitFor();
  assert.match(await mark.textContent(), /John Herschel/);
  await page.goBack();
});

test("a document that the model cannot do is stopped, and gone on with", async () => {
  const { collections } = await (await page.request.get("/api/v1/knowledge")).json();
  // The page is open before the file is added, and refreshes when it becomes visible again.
  await page.goto(`/knowledge/${collections[0].id}/graph`);
  await page.getByText("1 of 1 documents processed").waitFor();
  await page.request.post(`/api/v1/knowledge/${collections[0].id}/documents?name=nonsense.md`, {
    data: Buffer.from("The Jabberwocky."),
  });
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  const left = page.getByRole("list", { name: "Unfinished documents" });
  await left.getByText("Retrying.").waitFor();
  await picture("left");
  await check(page, "a graph that waits for a document");
  await left.getByRole("button", { name: "Stop processing “nonsense.md”" }).click();
  await left.getByText("Stopped.").waitFor();
  assert.equal(await left.getByRole("button", { name: /^Stop/ }).count(), 0);
  await left.getByRole("button", { name: "Resume “nonsense.md”" }).click();
  await left.getByText("Retrying.").waitFor();
  const { documents } = await (
    await page.request.get(`/api/v1/knowledge/${collections[0].id}/documents`)
  ).json();
  const { id } = documents.find(({ name }) => name === "nonsense.md");
  await page.request.delete(`/api/v1/knowledge/${collections[0].id}/documents/${id}`);
  await page.reload();
  await drawing().getByRole("link").first().waitFor();
});

test("two names of one thing are put together, and taken apart", async () => {
  const { collections } = await (await page.request.get("/api/v1/knowledge")).json();
  await page.request.post(`/api/v1/knowledge/${collections[0].id}/documents?name=society.md`, {
    data: Buffer.from(engine),
  });
  await page.goto(`/knowledge/${collections[0].id}/graph`);
  await page.getByText("2 of 2 documents processed").waitFor();
  const proposed = page.getByRole("list", { name: "Possible duplicates" });
  await proposed.getByText("Difference Engine Society (DES)").waitFor();
  await check(page, "names that documents say to mean the same");
  await picture("proposed");
  await proposed.getByRole("button", { name: /^Merge “DES”/ }).click();
  await page.getByRole("list", { name: "Merged names" }).getByText("“DES” is").waitFor();
  await drawing().getByRole("link", { name: "DES", exact: true }).waitFor({ state: "detached" });
  await drawing().getByRole("link", { name: "Difference Engine Society" }).click();
  const other = page.getByRole("list", { name: "Also called" });
  await other.getByText("DES", { exact: true }).waitFor();
  await drawing().getByRole("link", { name: "Notes" }).waitFor();
  await drawing().getByRole("link", { name: "Charles Babbage" }).waitFor();
  await check(page, "one thing with two names");
  await picture("one-with-names");
  // Also manually: without a quote as evidence.
  await page.getByLabel("Merge with").fill("notes");
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await other.getByText("Merged manually").waitFor();
  await other.getByRole("button", { name: /^Split “Notes”/ }).click();
  await other.getByRole("button", { name: /^Split “DES”/ }).click();
  await other.waitFor({ state: "detached" });
  await page.getByRole("button", { name: /^Merge “DES”/ }).waitFor();
  await page.goto(`/knowledge/${collections[0].id}/graph`);
  await drawing().getByRole("link", { name: "DES", exact: true }).waitFor();
});

test("in Russian nothing of it is English", async () => {
  const storageState = await page.context().storageState();
  for (const origin of storageState.origins) origin.localStorage = [];
  const other = await openPage(browser, {
    url: glasshouse.url,
    preferences: { language: "ru" },
    storageState,
  });
  await other.goto(new URL(page.url()).pathname);
  await other.getByText("База данных графов не помогает: она недоступна.").waitFor();
  await check(other, "a graph in Russian");
  await other.context().close();
});

test("in the dark, on a phone, and deleted again", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await drawing().getByRole("link").first().waitFor();
  await picture("phone-dark");
  await check(page, "a graph on a phone in the dark");
  await page.setViewportSize({ width: 1440, height: 900 });
  await picture("dark");
  await page.getByRole("button", { name: "Delete the graph" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the graph" }).click();
  await page.getByRole("button", { name: "Build the graph" }).waitFor();
  const grave = page.complaints.filter((complaint) => !complaint.includes("404"));
  assert.deepEqual(grave, []);
});
