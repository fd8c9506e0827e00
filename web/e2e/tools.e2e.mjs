/**
 * A model without tool calling, with the real program: calls it writes as text are executed, and its plot appears in
 * the answer.
 */
import assert from "node:assert/strict";
import { test } from "@playwright/test";
import { check } from "./axe.mjs";
import { launch, openPage, unfold, until } from "./browser.mjs";
import { connectModel, setUp } from "./people.mjs";
import { pause, startGlasshouse, startModel, text, turn } from "./programs.mjs";

test.describe.configure({ mode: "serial" });

/** Draws a small image with Python's standard library. */
const DRAW = `import struct, zlib

def part(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

width, height = 480, 240
lines = b"".join(
    b"\\x00" + b"".join(bytes((40, 110 + (x // 40) * 10, 200)) if y > 240 - (x // 40 + 1) * 18 else b"\\xff\\xff\\xff" for x in range(width))
    for y in range(height)
)
head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
open("rainfall.png", "wb").write(
    b"\\x89PNG\\r\\n\\x1a\\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(lines)) + part(b"IEND", b"")
)
open("sketch.svg", "w").write('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle cx="45" cy="30" r="25" fill="teal"/><script>document.title = "hacked"</script></svg>')
print("drawn", width, "by", height)`;
const WRITE = JSON.stringify({
  tool_calls: [{ name: "write_file", parameters: { path: "/rain.csv", content: "1\n2\n39\n" } }],
});
const CASES = [
  { contains: "The code printed:", turns: [turn(text("The rain grew from month to month, up to 216 mm."))] },
  {
    contains: "Result of write_file",
    turns: [
      turn(
        text("Now I draw them.\n\n", 200),
        text(
          `<code_interpreter type="code" lang="python">\n${DRAW}\n</code_interpreter>\nIt shows made-up rain.`,
        ),
      ),
    ],
  },
  {
    contains: "Draw the rain",
    turns: [turn(text(`I keep the numbers.\n\n\`\`\`json\n${WRITE}\n\`\`\`\n`, 200), pause(50))],
  },
  { turns: [turn(text("Hello."))] },
];

let browser, model, glasshouse, page;

test.beforeAll(async () => {
  [browser, model, glasshouse] = await Promise.all([
    launch(),
    startModel(CASES),
    startGlasshouse({ GLASSHOUSE_PROGRAMS_ENABLED: "true" }),
  ]);
  page = await openPage(browser, { url: glasshouse.url });
  await setUp(page);
  await connectModel(page, model);
  // Until then Python is not offered.
  await until("programs are looked at", async () => {
    const here = await (await page.request.get("/api/v1/programs")).json();
    return here.available !== null;
  });
});
test.afterAll(async () => {
  await browser?.close();
  await glasshouse?.stop();
  await model?.stop();
});

async function picture(name) {
  const folder = process.env.E2E_PICTURES;
  if (folder) await page.screenshot({ path: `${folder}/tools-${name}.png` });
}

test("an administrator says that a model is told of tools in words", async () => {
  await page.goto("/settings/models");
  await page.getByRole("button", { name: /^scripted/ }).click();
  await page.getByLabel("Tool calling").selectOption("in the prompt (no tool calling)");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("in the prompt (no tool calling)").first().waitFor();
  await page.goto("/settings/pipelines");
  await page.getByRole("switch", { name: /^Code interpreter/ }).waitFor();
  await page.getByRole("button", { name: "Edit: Tools in the prompt" }).click();
  await page.getByRole("textbox", { name: "Template" }).fill("Call {{TOOL}}");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Unknown variable: TOOL.").first().waitFor();
  await picture("pipelines");
  await page.getByRole("button", { name: "Cancel" }).click();
  await check(page, "pipelines with tools");
  const complaints = page.complaints.splice(0);
  assert.ok(
    complaints.every((words) => words.includes("status of 400")),
    complaints.join(),
  );
});

test("what it writes is run, and its picture stands in the answer", async () => {
  await page.goto("/");
  await page.getByRole("textbox").first().fill("Draw the rain of a year.");
  await page.keyboard.press("Enter");
  await page.getByText("The rain grew from month to month").waitFor();
  const plot = page.getByRole("img", { name: "rainfall" });
  await plot.waitFor();
  await page.waitForFunction(
    (image) => image.complete && image.naturalWidth === 480,
    await plot.elementHandle(),
  );
  const sketch = await page.getByRole("img", { name: "sketch" }).elementHandle();
  await page.waitForFunction((image) => image.complete && image.naturalWidth === 90, sketch);
  assert.ok(!(await page.title()).includes("hacked"), "no script of a drawing runs");
  const answer = await page.locator("main").innerText();
  for (const hidden of ["tool_calls", "code_interpreter", "made-up"]) {
    assert.ok(!answer.includes(hidden), `${hidden} in ${answer}`);
  }
  await picture("answer");
  await check(page, "a picture in the answer");
  const steps = page.getByRole("button", { name: /steps?/ }).first();
  await unfold(steps);
  await page.getByText("Ran Python").first().waitFor();
  await page.getByText("Created rain.csv").first().waitFor();
  // The row of the call shows the image in that version.
  const inRow = page.getByRole("img", { name: "rainfall.png" });
  await inRow.waitFor();
  await page.waitForFunction(
    (image) => image.complete && image.naturalWidth === 480,
    await inRow.elementHandle(),
  );
  assert.match(await inRow.getAttribute("src"), /rainfall\.png&version=1&inline=1$/);
  await picture("steps");
  await page.reload();
  await page.getByRole("img", { name: "rainfall" }).waitFor();
  // Also in print: both have loaded when the print dialog, which is not part of the page, opens.
  await page.evaluate(() => {
    window.print = () =>
      (window.printed = [...document.querySelectorAll(".print-sheet img")].map(
        (image) => image.naturalWidth,
      ));
  });
  await page.getByRole("button", { name: "Export chat" }).click();
  await page.getByRole("menuitem", { name: "PDF" }).click();
  const printed = await (await page.waitForFunction(() => window.printed)).jsonValue();
  assert.deepEqual(
    printed.sort((a, b) => a - b),
    [90, 480],
  );
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await picture("phone-dark");
  assert.deepEqual(page.complaints, []);
});
