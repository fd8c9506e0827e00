/** Takes the README screenshots from the real program: `node e2e/pictures.mjs`, with GLASSHOUSE_BIN set. */
import { fileURLToPath } from "node:url";
import { launch, openPage } from "./browser.mjs";
import { startGlasshouse } from "./programs.mjs";

const folder = fileURLToPath(new URL("../../docs/pictures/", import.meta.url));
const [browser, glasshouse] = await Promise.all([launch(), startGlasshouse()]);

async function picture(theme) {
  const page = await openPage(browser, {
    url: glasshouse.url,
    colorScheme: theme,
    viewport: { width: 1280, height: 860 },
    preferences: { theme },
  });
  await page.goto("/");
  await page.waitForURL(/setup|login/);
  if (page.url().includes("setup")) await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByLabel("Email").fill("ada@example.org");
  await page.getByLabel("Password").fill("correct horse");
  await page.getByRole("button", { name: /Create account|Log in/ }).click();
  await page.waitForURL(/welcome|\/$/);
  await page.goto("/welcome");
  await page.getByRole("button", { name: "Start the tour" }).click();
  await page.getByText(/2 sub-agents running/).waitFor();
  await page.waitForTimeout(700);
  await page.screenshot({ path: `${folder}run-${theme}.png` });
  await page.context().close();
}

try {
  await picture("light");
  await picture("dark");
} finally {
  await browser.close();
  await glasshouse.stop();
}
