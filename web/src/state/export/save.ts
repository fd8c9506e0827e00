/** Saves the open chat as a file, or prints it, which browsers also use to create a PDF. */
import { mount, tick, unmount } from "svelte";
import { loadLog } from "../../api/log.ts";
import type { RunEvent } from "../../api/events.ts";
import { formatDate } from "../../i18n/format.ts";
import { t } from "../../i18n/index.svelte.ts";
import { formulasDone, Markdown } from "../../markdown/index.ts";
import { saveFile } from "../../save-file.ts";
import { openChat } from "../chat.svelte.ts";
import { workspaceImage } from "../workspace-image.ts";
import { fileNameOf } from "../report/name.ts";
import { printSheet } from "../report/print.ts";
import { chatAsMarkdown, type Labels } from "./markdown.ts";

/** Number of logs loaded concurrently. */
const together = 4;
/** How long to wait for images before printing. */
const picturesMs = 5_000;

const labels = (): Labels => ({
  you: t("chats.you"),
  answer: t("chats.answer"),
  sources: t("research.sources"),
  steps: (count) => t("chats.steps", { count }),
  failed: t("chats.stepFailed"),
  completed: t("steps.emptyResult"),
  picture: t("chats.picture"),
  time: (at) => formatDate(at),
});

const title = () => openChat.title || t("sidebar.untitled");

async function text(folds: boolean): Promise<string> {
  const path = openChat.path;
  // An active run has no complete log.
  const runs = path.flatMap((message) => (message.run && message.summary ? [message.run] : []));
  const logs = new Map<string, RunEvent[]>();
  for (let from = 0; from < runs.length; from += together) {
    const some = runs.slice(from, from + together);
    // The log of a forked run's origin may be gone; the messages are still there.
    const found = await Promise.all(some.map((run) => loadLog(run).catch(() => [])));
    some.forEach((run, at) => logs.set(run, found[at] ?? []));
  }
  return chatAsMarkdown(title(), path, logs, labels(), folds);
}

export async function saveMarkdown(): Promise<void> {
  const content = new Blob([await text(true)], { type: "text/markdown" });
  saveFile(`${fileNameOf(title(), "chat")}.md`, content);
}

/** Opens the browser's print dialog. */
export async function printChat(): Promise<void> {
  const sheet = document.createElement("div");
  sheet.className = "print-sheet";
  const written = await text(false);
  let shown: Record<string, unknown> = {};
  // A long text is parsed in slices, and so are its formulas.
  await new Promise<void>((oncomplete) => {
    const props = { text: written, labels: { workspaceImage }, oncomplete };
    shown = mount(Markdown, { target: sheet, props });
  });
  await tick();
  await formulasDone();
  await Promise.race([pictures(sheet), new Promise((end) => setTimeout(end, picturesMs))]);
  printSheet(title(), sheet, () => void unmount(shown));
}

/** Resolves when all images have loaded or failed. */
async function pictures(sheet: HTMLElement): Promise<void> {
  const waited = [...sheet.querySelectorAll("img")].filter((image) => image.src === "" || !image.complete);
  await Promise.all(
    waited.map(
      (image) => new Promise((end) => ["load", "error"].map((name) => image.addEventListener(name, end))),
    ),
  );
}
