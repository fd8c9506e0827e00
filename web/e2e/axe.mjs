/** axe for the tests: any violation on a screen is a failure. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * Runs axe in the page. Virtualized lists hide rows while measuring them, and axe would report those as unnamed: so
 * wait until nothing is hidden, and run again if something was hidden meanwhile.
 */
async function examine(part) {
  const isMeasuring = () =>
    document.querySelector('[style*="visibility:hidden"],[style*="visibility: hidden"]');
  for (;;) {
    let isCalm = true;
    const look = () => (isCalm &&= !isMeasuring());
    for (let frame = 0; frame < 3; frame += 1) {
      look();
      await new Promise(requestAnimationFrame);
    }
    look();
    if (!isCalm) continue;
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["style"] });
    const result = await window.axe.run(part);
    observer.disconnect();
    if (isCalm) return result;
  }
}

/** Fails if axe finds a violation on this screen, or in part of it. */
export async function check(page, screen, part = "html") {
  // The page's CSP forbids foreign scripts, so axe is injected through the debugger.
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(await readFile(axePath, "utf8"));
  }
  const { violations } = await page.evaluate(examine, part);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${screen}: ${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
  );
  assert.deepEqual(found, []);
}
