/** The tour: a scripted model that shows what a run can do. */
import { tick } from "svelte";
import type { ChatMessage } from "../api/types.ts";
import { t } from "../i18n/index.svelte.ts";
import type { PageState } from "./context.ts";
import { openNewChat } from "./new-chat.ts";
import { router } from "./router.svelte.ts";

/** Starts it in a new chat. Throws if the server refuses. */
export async function startTour({ models, openChat }: PageState): Promise<void> {
  const { tour } = models;
  if (!tour) return;
  openNewChat();
  // The page opens the empty chat first.
  await tick();
  await openChat.open(null);
  const id = await openChat.send([{ type: "text", text: t("empty.tour.text") }], tour.id);
  router.go(`/c/${encodeURIComponent(id)}`, { replace: true });
}

/** Whether a model other than the tour has answered. */
export function hasRealAnswer(messages: ChatMessage[], models: PageState["models"]): boolean {
  if (!models.loaded) return false;
  return messages.some(
    ({ model, summary }) => model && summary?.outcome === "completed" && model !== models.tour?.id,
  );
}
