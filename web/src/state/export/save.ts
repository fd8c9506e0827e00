/** Saves the open chat as a file, or prints it, which is how browsers make a PDF. */
import { mount, tick, unmount } from "svelte";
import { loadLog } from "../../api/log.ts";
import type { RunEvent } from "../../api/events.ts";
import { formatDate } from "../../i18n/format.ts";
import { t } from "../../i18n/index.svelte.ts";
import { formulasDone, Markdown } from "../../markdown/index.ts";
import { openChat } from "../chat.svelte.ts";
import { workspaceImage } from "../workspace-image.ts";
import { fileNameOf } from "../report/name.ts";
import { printSheet } from "../report/print.ts";
import { chatAsMarkdown, type Labels } from "./markdown.ts";

/** Runs whose logs are asked for at a time. */
const together = 4;
/** So long the pictures are waited for before the chat is printed. */
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
  // A run that is still going has no whole log.
  const runs = path.flatMap((message) => (message.run && message.summary ? [message.run] : []));
  const logs = new Map<string, RunEvent[]>();
  for (let from = 0; from < runs.length; from += together) {
    const some = runs.slice(from, from + together);
    // Of a fork's past the log may be gone; what was said is there.
    const found = await Promise.all(some.map((run) => loadLog(run).catch(() => [])));
    some.forEach((run, at) => logs.set(run, found[at] ?? []));
  }
  return chatAsMarkdown(title(), path, logs, labels(), folds);
}

export async function saveMarkdown(): Promise<void> {
  const address = URL.createObjectURL(new Blob([await text(true)], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${fileNameOf(title(), "chat")}.md`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Opens the browser's dialog. */
export async function printChat(): Promise<void> {
  const sheet = document.createElement("div");
  sheet.className = "print-sheet";
  const written = await text(false);
  let shown: Record<string, unknown> = {};
  // A long text is read in slices, and so are its formulas.
  await new Promise<void>((oncomplete) => {
    const props = { text: written, labels: { workspaceImage }, oncomplete };
    shown = mount(Markdown, { target: sheet, props });
  });
  await tick();
  await formulasDone();
  await Promise.race([pictures(sheet), new Promise((end) => setTimeout(end, picturesMs))]);
  printSheet(title(), sheet, () => void unmount(shown));
}

/** When all pictures are there, or known not to be. */
async function pictures(sheet: HTMLElement): Promise<void> {
  const waited = [...sheet.querySelectorAll("img")].filter((image) => image.src === "" || !image.complete);
  await Promise.all(
    waited.map(
      (image) => new Promise((end) => ["load", "error"].map((name) => image.addEventListener(name, end))),
    ),
  );
}
