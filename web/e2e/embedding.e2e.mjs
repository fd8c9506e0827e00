/**
 * The embedding model with the real program: an administrator tests one, selects it, watches the progress, and switches
 * back.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, until } from "./browser.mjs";
import { startEmbedder } from "./embedder.mjs";
import { setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

let browser, embedder, glasshouse, page, work;

test.beforeAll(async () => {
  [browser, embedder, glasshouse] = await Promise.all([
    launch(),
    startEmbedder({ "tiny-embed": 48, "bge-long": 96, "chat-7b": 0 }),
    startGlasshouse(),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  const connected = await page.request.post("/api/v1/connections", {
    data: { name: "Vectors", base_url: embedder.url },
  });
  assert.ok(connected.ok(), await connected.text());
  work = await (await page.request.post("/api/v1/knowledge", { data: { name: "Sea" } })).json();
  for (const name of ["walrus.md", "seal.md"]) {
    const part = (n) =>
      `# Part ${n}\n\n${`The ${name.slice(0, -3)} swims far, and sleeps ${n}. `.repeat(40)}\n\n`;
    const put = await page.request.post(`/api/v1/knowledge/${work.id}/documents?name=${name}`, {
      data: Buffer.from([1, 2, 3].map(part).join("")),
    });
    assert.ok(put.ok(), await put.text());
  }
  // Parsed, before an embedding model is selected.
  await until("the documents are read", async () => {
    const { documents } = await (await page.request.get(`/api/v1/knowledge/${work.id}/documents`)).json();
    return documents.every(({ state }) => state === "ready");
  });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await embedder?.stop();
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/embedding-${name}.png`, fullPage: true });
}
const model = () => page.getByLabel("Model", { exact: true });
const meanings = async () => {
  const data = { query: "a walrus that swims" };
  const { results } = await (await page.request.post("/api/v1/knowledge/search", { data })).json();
  return results.map(({ scores }) => scores.meaning);
};

test("a model is tried, and what is wrong with it is said", async () => {
  await page.goto("/settings");
  await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Knowledge" }).click();
  await page.getByText("Off (keyword only)").first().waitFor();
  await picture("none");
  await check(page, "no embedding model");
  await model().selectOption({ label: "chat-7b" });
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText("chat-7b does not embed.").waitFor();
  await picture("wrong");
  await model().selectOption({ label: "tiny-embed" });
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText(/^One sentence took .* and gave a vector with 48 dimensions\.$/).waitFor();
  await check(page, "an embedding model that was tried");
  assert.deepEqual(new Set(await meanings()), new Set([null]), "nothing is chosen yet");
});

test("what is chosen embeds the documents", async () => {
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("2 of 2 done (100%)").waitFor();
  await page.getByText("chosen here").waitFor();
  await picture("done");
  assert.ok((await meanings()).every((score) => score > 0));
});

test("another model embeds anew, and the one before serves meanwhile", async () => {
  embedder.hold();
  await model().selectOption({ label: "bge-long" });
  await page.getByText("All documents are embedded again").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Until then, tiny-embed is used, with 2 documents.").waitFor();
  await page.getByText("0 of 2 done (0%)").waitFor();
  await page.getByRole("progressbar").waitFor();
  await picture("anew");
  await check(page, "documents that are embedded anew");
  assert.ok(
    (await meanings()).every((score) => score > 0),
    "the old vectors serve",
  );
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await picture("anew-phone-dark");
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1440, height: 900 });
  embedder.release();
  await page.getByText("2 of 2 done (100%)").waitFor();
  assert.match(await page.locator("dl").first().innerText(), /96/);
});

test("none leaves words alone, and all of it is in the audit log", async () => {
  await model().selectOption({ label: "Off (keyword only)" });
  await page.getByText("Semantic search turns off.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Dimensions").waitFor({ state: "detached" });
  assert.deepEqual(new Set(await meanings()), new Set([null]));
  await page.goto("/settings/audit");
  await page.getByText("Changed embedding model").first().waitFor();
  await page.getByText("Tested embedding model").first().waitFor();
  assert.deepEqual(page.complaints, []);
});
