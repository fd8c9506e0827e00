/** axe for the tests: what it finds on a screen is a failure. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * Runs axe in the page. Lists hide what they are about to measure, and axe would find it without a name: so it waits
 * until nothing is hidden, and looks again where something was meanwhile.
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

/** Fails where axe finds something on this screen, or in a part of it. */
export async function check(page, screen, part = "html") {
  // The page's policy forbids foreign scripts, so axe comes in through the debugger.
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(await readFile(axePath, "utf8"));
  }
  const { violations } = await page.evaluate(examine, part);
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${screen}: ${id}: ${node.html.slice(0, 160)} ${node.failureSummary ?? ""}`),
  );
  assert.deepEqual(found, []);
}
