/**
 * The page in Arabic with the real program: it is laid out from right to left from the first paint on, nothing is wider
 * than the screen, and axe finds nothing.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold, until } from "./browser.mjs";
import { callApi, setUp } from "./people.mjs";
import { startGlasshouse } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
const DOCUMENTS = {
  "الإجازات.md": "# الإجازات\n\nثلاثون يومًا في السنة، ويمكن ترحيل خمسة منها.\n\n## ترحيل\n\nخمسة أيام.",
  "pay.md": "# Pay\n\nPaid on the 25th of each month.",
};

let browser, chat, collection, glasshouse, page;

async function addDocuments(first) {
  const made = { name: "دليل الموظفين", description: "Holidays (الإجازات) and pay." };
  const { id } = await callApi(first, glasshouse.url, "post", "/knowledge", made);
  for (const [name, text] of Object.entries(DOCUMENTS)) {
    const path = `/api/v1/knowledge/${id}/documents?name=${encodeURIComponent(name)}`;
    const put = await first.request.post(path, { data: Buffer.from(text) });
    assert.ok(put.ok(), await put.text());
  }
  return id;
}

test.beforeAll(async () => {
  [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);
  const first = await openPage(browser, { url: glasshouse.url });
  await setUp(first);
  collection = await addDocuments(first);
  const storageState = await first.context().storageState();
  await first.context().close();
  // The saved language.
  for (const origin of storageState.origins) origin.localStorage = [];
  page = await openPage(browser, {
    url: glasshouse.url,
    locale: "ar-EG",
    // Nothing is caught while fading in.
    reducedMotion: "reduce",
    storageState,
  });
  // The direction of the first layout.
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      if (!document.body) return;
      globalThis.firstDirection = document.documentElement.dir;
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  });
});
test.afterAll(async () => {
  assert.deepEqual(page?.complaints, []);
  await browser?.close();
  await glasshouse?.stop();
});

/** Pictures in both themes, wide and narrow. */
async function pictures(name) {
  const folder = process.env.E2E_PICTURES;
  if (!folder) return;
  for (const [size, viewport] of Object.entries({ wide: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["dark", "light"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: `${folder}/rtl-${name}-${size}-${colorScheme}.png`,
        animations: "disabled",
      });
    }
  }
  await page.setViewportSize(DESKTOP);
}

/** What stands outside of the window, but for what scrolls by itself and what is hidden on purpose. */
const overflow = () =>
  page.evaluate(() => {
    const isOut = (element) => {
      const { left, right, width, height } = element.getBoundingClientRect();
      const scrolls = element.closest("pre, .md-table, .columns, [popover], .visually-hidden, .skip");
      return width > 1 && height > 1 && !scrolls && (left < -1 || right > innerWidth + 1);
    };
    const out = [...document.querySelectorAll("body *")].filter(isOut);
    if (document.scrollingElement.scrollWidth > innerWidth) out.push(document.scrollingElement);
    return out.map((element) => element.outerHTML.slice(0, 120));
  });

/** Whether nothing has arrived from the server for a while; streams, which never end, do not count. */
function isQuiet() {
  const ends = performance.getEntriesByType("resource").map((resource) => resource.responseEnd);
  return performance.now() - Math.max(...ends) > 300;
}

/** Examines what is shown at both sizes. */
async function examine(screen) {
  await pictures(screen.replaceAll(/[^\w]+/g, "-"));
  for (const viewport of [PHONE, DESKTOP]) {
    await page.setViewportSize(viewport);
    // The page may be laid out anew for the other size.
    const fits = async () => (await overflow()).length === 0;
    await until(`${screen} fits`, fits).catch(() => undefined);
    assert.deepEqual(await overflow(), [], `${screen} at ${viewport.width} pixels`);
    await check(page, `${screen} at ${viewport.width} pixels`);
  }
}

async function open(path) {
  await page.goto(path);
  await page.getByRole("heading").or(page.locator("#composer")).first().waitFor();
  await page.waitForFunction(isQuiet);
}

const boxOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().toJSON());
const near = (one, other, within = 4) =>
  assert.ok(Math.abs(one - other) <= within, `${one} is not near ${other}`);
const isBefore = (one, other) => assert.ok(one < other, `${one} is not before ${other}`);

test("the browser's language chooses that of the page, and its direction before the first paint", async () => {
  await open("/welcome");
  await page.getByRole("heading", { name: "ربط نموذج" }).waitFor();
  const root = await page.evaluate(() => {
    const { dir, lang } = document.documentElement;
    return { dir, lang };
  });
  assert.deepEqual(root, { dir: "rtl", lang: "ar" });
  assert.equal(await page.evaluate(() => globalThis.firstDirection), "rtl");
  await examine("welcome");
});

test("the tour runs, and asks", async () => {
  await page.getByRole("button", { name: "بدء الجولة" }).click();
  const allow = page.locator("[data-allow]");
  await allow.waitFor();
  chat = new URL(page.url()).pathname;
  await examine("approval");
  await allow.click();
  await page.locator(".facts").waitFor();
  await unfold(page.locator("[data-steps-toggle]"));
  await page.locator(".steps .line").nth(3).click();
  await examine("steps");
});

test("the sidebar is on the right, Send on the left, and arrows point the other way", async () => {
  near((await boxOf(page.getByRole("navigation").first())).right, DESKTOP.width);
  const composer = await boxOf(page.locator(".composer .box"));
  isBefore((await boxOf(page.locator(".composer .send"))).right, composer.left + 60);
  isBefore((await boxOf(page.locator(".bubble"))).left, composer.left + 40);
  const icon = page.locator(".lucide-panel-left-close").first();
  assert.equal(await icon.evaluate((element) => getComputedStyle(element).scale), "-1 1");
  // On a phone it slides over the page from the right.
  await page.setViewportSize(PHONE);
  await page.getByRole("button", { name: "فتح الشريط الجانبي" }).click();
  near((await boxOf(page.locator(".sheet"))).right, PHONE.width);
  await pictures("drawer");
  await page.setViewportSize(PHONE);
  await page.keyboard.press("Escape");
  await page.setViewportSize(DESKTOP);
});

test("a menu begins below the end of its button that the line begins with", async () => {
  const button = page.getByRole("button", { name: /اختيار نموذج/ });
  await button.click();
  near((await boxOf(page.locator(".menu:popover-open"))).right, (await boxOf(button)).right);
  await page.keyboard.press("Escape");
});

test("the left arrow key goes on in the tabs of the panel, which is on the left", async () => {
  await page.getByRole("button", { name: "فتح اللوحة" }).click();
  near((await boxOf(page.getByRole("complementary"))).left, 0);
  const tab = (name) => page.getByRole("tab", { name, selected: true });
  await tab("الملفات").press("ArrowLeft");
  await tab("الخطة").waitFor();
  await page.keyboard.press("ArrowLeft");
  await tab("التصحيح").waitFor();
  await page.locator("[data-row]").nth(5).click();
  await pictures("debug");
  await tab("التصحيح").press("ArrowRight");
  await tab("الخطة").press("ArrowRight");
  await tab("الملفات").waitFor();
  await page.locator("aside .file").first().click();
  await page.locator("aside .views button").last().click();
  await page.locator("aside tr.added").first().waitFor();
  await examine("history of a file");
  await page.getByRole("button", { name: "إغلاق اللوحة" }).last().click();
});

test("code, changes and the replay stay left-to-right", async () => {
  for (const shown of ["pre", ".steps pre"]) {
    const style = await page
      .locator(shown)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
    assert.equal(style, "ltr", shown);
  }
  await page.getByRole("button", { name: "إعادة العرض" }).click();
  const slider = page.getByRole("slider");
  await slider.waitFor();
  assert.equal(await slider.evaluate((element) => getComputedStyle(element).direction), "ltr");
  await pictures("replay");
  await page.getByRole("button", { name: "الخروج من إعادة العرض" }).click();
});

test("keys are shown in their order", async () => {
  await page.keyboard.press("Control+/");
  const chord = page.getByRole("dialog").locator("span", { hasText: "CtrlShiftO" }).locator("kbd");
  await chord.first().waitFor();
  isBefore((await boxOf(chord.first())).right, (await boxOf(chord.last())).left);
  await examine("keyboard");
  await page.keyboard.press("Escape");
});

test("tags are separated by Arabic commas too", async () => {
  await page.locator("nav li.current").hover();
  await page.locator("nav li.current [aria-haspopup=menu]").click();
  await page.getByRole("menuitem", { name: "الوسوم" }).click();
  const field = page.getByRole("textbox", { name: "الوسوم" });
  await field.fill("مطر، rain,2025");
  await page.keyboard.press("Enter");
  await field.waitFor({ state: "detached" });
  await until("the chat has three tags", async () => {
    const { chats } = await callApi(page, glasshouse.url, "get", "/chats");
    return chats[0].tags.join() === "مطر,rain,2025";
  });
});

const sections = "general people groups models agents tools usage keys limits configuration".split(" ");
const paths = ["/", "/inbox", "/knowledge", ...sections.map((section) => `/settings/${section}`)];
for (const path of paths) {
  test(`${path} fits`, async () => {
    await open(path);
    await examine(path);
  });
}

test("documents and what is found in them fit", async () => {
  await open(`/knowledge/${collection}`);
  await examine("collection");
  const field = page.getByRole("searchbox", { name: "البحث في المستندات" });
  await field.fill("ترحيل");
  await field.press("Enter");
  await page.locator("article mark").first().waitFor();
  await examine("found");
});

test("another language turns the page round at once, and stays", async () => {
  await open("/settings/general");
  await page.getByRole("combobox", { name: "اللغة" }).selectOption("English");
  await page.getByRole("heading", { name: "Language" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.dir), "ltr");
  near((await boxOf(page.getByRole("navigation").first())).left, 0);
  await page.reload();
  await page.getByRole("heading", { name: "Language" }).waitFor();
  assert.equal(await page.evaluate(() => globalThis.firstDirection), "ltr");
  await page.getByRole("combobox", { name: "Language" }).selectOption("العربية");
  await page.getByRole("heading", { name: "اللغة" }).waitFor();
  await page.goto(chat);
  await page.locator(".facts").waitFor();
  assert.equal(await page.evaluate(() => globalThis.firstDirection), "rtl");
});
