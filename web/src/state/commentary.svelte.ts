/** Announces the open chat's run to screen readers: progress, pending requests, the end. */
import { said, t } from "../i18n/index.svelte.ts";
import { announcer } from "./announcer.svelte.ts";
import { wordsOfCall } from "./call-words.ts";
import { openChat } from "./chat.svelte.ts";
import type { RunView } from "./run.svelte.ts";
import { nodeOf } from "./timeline.ts";

/** Call once during component initialization. */
export function watchRun(): void {
  const active = $derived(openChat.active);
  const latest = $derived(active ? nodeOf(active.nodes, active.run.latestTool, "tool") : undefined);
  const doing = $derived(latest && wordsOfCall(latest).text);
  const asked = $derived(active?.run.waiting.at(-1));

  $effect(() => {
    if (doing) announcer.progress(doing);
  });

  $effect(() => {
    const node = asked ? active?.nodes.get(asked) : undefined;
    if (node?.kind === "approval") announcer.say(t("say.approval", { tool: node.name }));
    if (node?.kind === "question") announcer.say(t("say.question", { text: node.text }));
  });

  let before: RunView | null = null;
  $effect(() => {
    const ended = before !== active ? before : null;
    before = active;
    if (ended?.finished) sayEnd(ended);
  });
}

function sayEnd(view: RunView): void {
  const { outcome, problem } = view.run;
  if (outcome === "cancelled") announcer.say(t("say.stopped"));
  else if (outcome === "failed") announcer.error(problem ? said(problem) : t("turn.failed"));
  else {
    const words = view.run.answers
      .map((id) => nodeOf(view.nodes, id, "text")?.text ?? "")
      .join(" ")
      .split(/\s+/)
      .filter(Boolean).length;
    announcer.say(t("say.answer", { count: words }));
  }
}
