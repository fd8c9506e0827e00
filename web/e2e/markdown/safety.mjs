// Shows hostile and friendly texts in Chromium: node e2e/markdown/safety.mjs
// No script may run, no request may leave, and what should work must work.

import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { buildPage, openPage } from "./browser.mjs";
import { hostile } from "./hostile.mjs";

const ALLOWED_TAGS =
  /^(?:a|b|blockquote|br|button|code|col|colgroup|del|details|div|em|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|s|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul|math|semantics|m[a-z]+|svg|path|line|g|rect|circle|polygon|polyline|ellipse|text|tspan|defs|marker|style|title|desc|linearGradient|radialGradient|stop|filter|fe[A-Za-z]+|clipPath|pattern|symbol|use|switch)$/i;

const folder = await buildPage();
const { page, context, origin, close } = await openPage(folder);
const leaks = [];
await context.route("**/*", (route) => {
  if (route.request().url().startsWith(origin) || route.request().url().startsWith("data:"))
    return route.continue();
  leaks.push(route.request().url());
  return route.abort();
});
page.on("dialog", (dialog) => dialog.dismiss());
page.on("popup", (popup) => leaks.push(popup.url()));
await page.addInitScript(() => {
  window.pwned = 0;
  window.pwn = () => (window.pwned += 1);
});

const failures = [];
let passed = 0;
async function check(name, body) {
  try {
    await body();
    passed += 1;
  } catch (error) {
    failures.push(name);
    console.error(`FAILED ${name}\n  ${String(error.message).split("\n").slice(0, 6).join("\n  ")}`);
  }
}

try {
  await page.goto(origin);
  await page.waitForFunction("window.page");
  for (const text of hostile) await check(JSON.stringify(text).slice(0, 100), () => harmless(text));
  await check("all hostile texts in one", () => harmless(hostile.join("\n\n")));
  await check("friendly texts", friendly);
  await check("diagram", drawsDiagram);
  await check("image loads on click", loadsImage);
  await check("copy", copiesCode);
  await check("growing and replaced text", growsAndReplaces);
} finally {
  await close();
  await rm(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function show(text, streaming = false) {
  await page.evaluate(([t, s]) => window.page.show(t, s), [text, streaming]);
}

/** Waits until diagrams are rendered (or rejected) and formulas typeset. */
async function settled() {
  await page.waitForFunction(() => {
    const views = [...document.querySelectorAll(".md-diagram")];
    return views.every((view) => !view.hidden || view.parentElement.querySelector(".md-note"));
  });
  await page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 30)));
}

async function harmless(text) {
  await show("");
  for (let at = 0; at <= Math.min(text.length, 400); at += 9) await show(text.slice(0, at), true);
  await show(text);
  await settled();
  assert.equal(await page.evaluate(() => window.pwned), 0, "a script ran");
  assert.deepEqual(leaks.splice(0), [], "a request left the page");
  assert.deepEqual(await page.evaluate(inspect, ALLOWED_TAGS.source), [], "something unsafe is in the page");
}

/** Runs in the page: lists every element, attribute and URL that should not be there. */
function inspect(allowedTags) {
  const allowed = new RegExp(allowedTags, "i");
  const found = [];
  const roots = [document.querySelector(".md")];
  for (const root of roots) {
    for (const element of root.querySelectorAll("*")) {
      const tag = element.tagName;
      const drawing = /^data:image\/svg\+xml,(.*)/.exec(element.closest(".md-diagram") && element.src);
      if (drawing) {
        roots.push(new DOMParser().parseFromString(decodeURIComponent(drawing[1]), "image/svg+xml"));
        continue;
      }
      if (!allowed.test(tag)) found.push(tag);
      for (const { name, value } of element.attributes) {
        if (/^on|^srcdoc$|^formaction$/i.test(name)) found.push(`${tag} ${name}`);
        if (/javascript:|url\(\s*["']?(?!#|["'])/i.test(value) && !name.startsWith("data-"))
          found.push(`${tag} ${name}=${value}`);
        if (/^(?:xlink:)?href$/.test(name) && tag !== "A" && !value.startsWith("#"))
          found.push(`${tag} ${value}`);
      }
      if (tag === "A" && !["http:", "https:", "mailto:"].includes(element.protocol))
        found.push(`A ${element.href}`);
      if (tag === "A" && element.rel !== "noreferrer noopener") found.push("A without rel");
      if (tag === "IMG" && !/^data:image\/(?:png|jpe?g|gif|webp|avif);base64,/.test(element.src))
        found.push(`IMG ${element.src}`);
      if (tag.toLowerCase() === "style" && /@import|url\(\s*["']?(?!#|["'])/i.test(element.textContent))
        found.push("style loads");
    }
  }
  return found;
}

async function friendly() {
  await show(
    "# Head\n\n**b** $x^2$ \\[\\frac12\\]\n\n- [x] done\n\n```rust\nfn main() {}\n```\n\n| a |\n|--|\n| $y$ |\n\n- n\n  ```js\n  let a\n  ```\n",
  );
  await page.waitForSelector(".md-code:not(li .md-code) .hljs-keyword");
  await page.waitForSelector("li .hljs-keyword");
  await page.waitForSelector("td .katex");
  assert.equal(await page.locator(".katex-display").count(), 1);
  assert.equal(await page.locator(".katex-mathml annotation").count(), 0);
  assert.equal(await page.locator("h1").innerText(), "Head");
}

async function drawsDiagram() {
  await show("```mermaid\ngraph TD\n  A[Start] -->|go| B{Choice}\n  B --> C(End)\n```\n");
  await page.waitForSelector(".md-diagram", { state: "attached" });
  await settled();
  const read = () =>
    page.evaluate(() => decodeURIComponent(document.querySelector(".md-diagram img")?.src ?? ""));
  const light = await read();
  assert.match(light, /Start/);
  assert.match(light, /Choice/);
  await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
  await page.waitForFunction(
    (before) => decodeURIComponent(document.querySelector(".md-diagram img").src) !== before,
    light,
  );
  await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
  await show("```mermaid\nnonsense\n```\n");
  await settled();
  assert.match(await page.locator(".md-block pre").innerText(), /nonsense/);
}

async function loadsImage() {
  await show("![a chart](https://example.org/c.png)");
  const button = page.getByRole("button", { name: "Load image from example.org" });
  assert.deepEqual(await page.evaluate(() => window.page.fetched), []);
  await button.click();
  await page.waitForSelector("img[alt='a chart']", { state: "attached" });
  assert.deepEqual(await page.evaluate(() => window.page.fetched), ["https://example.org/c.png"]);
  assert.deepEqual(leaks.splice(0), [], "the page itself asked for it");
}

async function copiesCode() {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const lines = Array.from({ length: 300 }, (_, i) => `line ${i};`).join("\n");
  await show("```js\n" + lines + "\n```\n");
  await page.locator("[data-copy]").first().click();
  await page.getByText("Copied").waitFor();
  assert.equal((await page.evaluate(() => navigator.clipboard.readText())).trimEnd(), lines);
}

async function growsAndReplaces() {
  await show("one\n\ntwo", true);
  await show("one\n\ntwo **three", true);
  await page.waitForSelector("strong");
  await page.evaluate(() => (document.querySelector(".md-block").marked = true));
  await show("one\n\ntwo **three** four\n\nfive");
  await page.getByText("five").waitFor();
  assert.equal(
    await page.evaluate(() => document.querySelector(".md-block").marked),
    true,
    "a settled block was drawn again",
  );
  await show("other");
  await page.waitForFunction(() => document.querySelector(".md").innerText.trim() === "other");
}
