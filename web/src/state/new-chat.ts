/** Opens an empty chat. */
import { tick } from "svelte";
import { offerComposer } from "./composer-focus.ts";
import { layout } from "./layout.svelte.ts";
import { research } from "./research.svelte.ts";
import { router } from "./router.svelte.ts";

export function openNewChat(): void {
  layout.closeSheets();
  research.reset();
  router.go("/");
}

/** By a button: moves the focus to the composer, except on a touch screen, where that would open the keyboard. */
export function pressNewChat(): void {
  openNewChat();
  void tick().then(offerComposer);
}
